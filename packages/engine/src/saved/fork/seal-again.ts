/** A secret is sealed for one place, so a copy of it in another place is sealed again. */
import { Refusal } from '@lodge/domain';
import type { SecretBox } from '@lodge/ports';

export interface Places {
  readonly from: string;
  readonly to: string;
  /** Begins the sentence of a refusal. */
  readonly what: string;
}

/** Refuses a secret that cannot be read, as after the loss of a master key. */
export function sealedAgain(secrets: SecretBox, sealed: string, { from, to, what }: Places): string {
  return secrets.seal(opened(secrets, sealed, from, what), to);
}

function opened(secrets: SecretBox, sealed: string, context: string, what: string): string {
  try {
    return secrets.open(sealed, context);
  } catch {
    throw new Refusal(
      'invalid_request',
      `${what} cannot be read, so it cannot be copied. Set it again, or leave it out.`,
    );
  }
}
