/** A runtime_a model in its two halves: the first slash divides them, the name may hold more. */
export interface ProviderModel {
  readonly provider: string;
  readonly name: string;
}

export const maxModelLength = 200;

/** Splits `<provider>/<model_name>`; null when it is not of that shape. */
export function parseProviderModel(model: string): ProviderModel | null {
  if (model.length > maxModelLength) return null;
  const match = /^([a-z0-9][a-z0-9._-]*)\/([\x21-\x7e]+)$/.exec(model);
  return match ? { provider: match[1]!, name: match[2]! } : null;
}
