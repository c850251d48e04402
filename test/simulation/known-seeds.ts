// Seeds whose histories once broke a law of judge/, each with the fault that it found. They run in every run.
export const KNOWN_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [];
