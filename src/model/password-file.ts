// The password of a role in a file of its own.

export type PasswordText =
  | { readonly password: string; readonly why?: undefined }
  /** `why` follows the name of the file, and holds nothing of it. */
  | { readonly password?: undefined; readonly why: string };

export function passwordIn(content: string): PasswordText {
  const [password = '', ...others] = content.replace(/\r?\n$/, '').split(/\r?\n/);
  if (others.length > 0) return { why: 'has more than one line: write the password alone' };
  if (password === '') return { why: 'holds no password: write the password alone, on one line' };
  return { password };
}
