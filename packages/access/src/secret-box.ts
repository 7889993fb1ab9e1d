/**
 * Secrets at rest. A sealed secret reads `v2.<data key id>.<payload>`, and its place is bound to it. Earlier releases sealed
 * with the master key itself, `v1.<master key id>.<payload>`. Such a secret still opens, and no new one is made.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import type { DataKeyStore, SecretBox } from '@lodge/ports';
import { SecretBoxError, decrypt, encrypt } from './aead.ts';
import { makeDataKey, masterKeyId, unwrapDataKey } from './data-key.ts';
import type { DataKey } from './data-key.ts';
import { MasterKeyError } from './master-key.ts';

/** 128 bits: enough that no two secrets meet. */
const fingerprintChars = 32;

/** Opens the deployment's box and makes its data key when there is none yet. Any number of processes may do so at once. */
export async function openSecretBox(
  store: Pick<DataKeyStore, 'all' | 'insert'>,
  masterKey: Uint8Array,
): Promise<SecretBox> {
  const ours = masterKeyId(masterKey);
  let rows = await store.all();
  if (rows.length === 0) {
    await store.insert(makeDataKey(masterKey));
    rows = await store.all();
  }
  const row = rows.find((each) => each.masterKeyId === ours);
  const others = rows.filter((each) => each !== row).map((each) => each.masterKeyId);
  if (row === undefined) {
    throw new MasterKeyError(
      `The database's secrets are sealed under the master key ${others.join(', ')}, and this one is ${ours}. Give the right one; after a rotation that is the new one.`,
    );
  }
  if (others.length > 0) {
    throw new MasterKeyError(
      'A change of the master key was cut off. Run rotate-master-key again, as before: it goes on where it ended.',
    );
  }
  return createSecretBox(masterKey, unwrapDataKey(masterKey, row));
}

/** Creates a box that seals with `dataKey`, and opens secrets sealed with it or with `masterKey` itself. */
export function createSecretBox(masterKey: Uint8Array, dataKey: DataKey = ownDataKey(masterKey)): SecretBox {
  const prefix = sealedPrefix(dataKey.id);
  const legacyPrefix = `v1.${masterKeyId(masterKey)}.`;
  const fingerprintKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge fingerprints v1', 32));
  const legacyKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge secret box v1', 32));

  return {
    seal: (plaintext, context) => prefix + encrypt(dataKey.key, Buffer.from(plaintext, 'utf8'), prefix + context),

    fingerprint(secret, context) {
      // As JSON, no context and secret together read like another pair.
      const text = JSON.stringify([context, secret]);
      return createHmac('sha256', fingerprintKey).update(text).digest('hex').slice(0, fingerprintChars);
    },

    open(sealed, context) {
      const [version, keyId, payload, ...rest] = sealed.split('.');
      if ((version !== 'v1' && version !== 'v2') || payload === undefined || rest.length > 0) {
        throw new SecretBoxError('This is not a sealed secret of a known version.');
      }
      const [key, ownPrefix] = version === 'v2' ? [dataKey.key, prefix] : [legacyKey, legacyPrefix];
      if (!sealed.startsWith(ownPrefix)) {
        throw new SecretBoxError(
          `This secret was sealed under another key (${keyId}; this one is ${ownPrefix.split('.')[1]}).`,
        );
      }
      return decrypt(key, payload, ownPrefix + context).toString('utf8');
    },
  };
}

/** Returns the beginning of everything sealed with a data key. */
export const sealedPrefix = (dataKeyId: string): string => `v2.${dataKeyId}.`;

/** Returns the data key of a box without a database, the same for the same master key. */
function ownDataKey(masterKey: Uint8Array): DataKey {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge own data key', 32));
  return { id: masterKeyId(masterKey), key };
}
