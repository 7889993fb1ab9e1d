/**
 * Fingerprints of secrets: by them an owner sees whether a secret at hand is the stored one, which is never given back. They
 * are computed with a key of the server's when a secret is read, so none is stored, and a change of the master key changes
 * them all at once. Equal secrets of two accounts, or of two kinds, have different ones.
 */
import type { SecretKind } from '@lodge/domain';
import type { SecretBox } from '@lodge/ports';

export interface Fingerprints {
  of(accountId: string, kind: SecretKind, value: string): string;
  /** The fingerprint of a stored secret; null when it does not open. */
  ofSealed(accountId: string, kind: SecretKind, sealed: string, context: string): string | null;
}

/** Those of a server without secrets. */
const none: Fingerprints = {
  of() {
    throw new Error('There is no key for fingerprints.');
  },
  ofSealed: () => null,
};

/** Most fingerprints that are remembered, so that a list of agents does not open each key each time. */
const maxRemembered = 8_192;

export function createFingerprints(secrets: SecretBox | undefined): Fingerprints {
  if (secrets === undefined) return none;
  const remembered = new Map<string, string>();
  const of = (accountId: string, kind: SecretKind, value: string): string =>
    secrets.fingerprint(value, `${kind}/${accountId}`);
  return {
    of,
    ofSealed(accountId, kind, sealed, context) {
      // No two sealings are alike, so one text belongs to one secret in one place.
      const known = remembered.get(sealed);
      if (known !== undefined) return known;
      const made = computed(() => of(accountId, kind, secrets.open(sealed, context)));
      if (made === null) return null;
      const [oldest] = remembered.size < maxRemembered ? [] : remembered.keys();
      if (oldest !== undefined) remembered.delete(oldest);
      remembered.set(sealed, made);
      return made;
    },
  };
}

function computed(compute: () => string): string | null {
  try {
    return compute();
  } catch {
    return null;
  }
}
