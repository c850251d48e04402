// Samples of an exposition.

/** Every series has the cluster's name. Without it, a test names only the labels that matter to it. */
export function withoutScope(exposition: string): string {
  return exposition.replaceAll(/\{scope="[^"]*"\}|,scope="[^"]*"|scope="[^"]*",/g, '');
}
