/**
 * Changes the master key: makes a new data key under the new master key, seals every secret anew with it, and removes the
 * old data key. The old master key and an older copy of the database then open nothing that is sealed later.
 *
 *   old data key only ── new one beside it ── secrets move over, one by one ── old one removed
 *
 * Each step is a write of its own and looks first. After a kill between any two steps, the same call goes on. No control
 * plane may run meanwhile, because it has only one of the keys.
 */
import type { DataKeyStore, SealedValueStore, SecretBox } from '@lodge/ports';
import { makeDataKey, masterKeyId, unwrapDataKey } from './data-key.ts';
import { MasterKeyError } from './master-key.ts';
import { createSecretBox, sealedPrefix } from './secret-box.ts';

const atOnce = 100;

export interface Rotation {
  readonly store: DataKeyStore & SealedValueStore;
  readonly oldMasterKey: Uint8Array;
  readonly newMasterKey: Uint8Array;
  /** Called with the number of secrets sealed anew so far. */
  readonly onProgress?: (moved: number) => void;
}

/**
 * Changes the master key and resolves with the number of secrets sealed anew, when the old master key opens none any more.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<number> {
  const { store, oldMasterKey, newMasterKey } = rotation;
  if (masterKeyId(oldMasterKey) === masterKeyId(newMasterKey)) {
    throw new MasterKeyError('The new master key is the one in use.');
  }
  const servers = await store.connectedServers();
  if (servers > 0) {
    throw new MasterKeyError(
      'A control plane is connected to the database. Stop every one first; agents may go on running.',
    );
  }
  const before = await store.all();
  checkKnown(
    before.map((row) => row.masterKeyId),
    [oldMasterKey, newMasterKey].map(masterKeyId),
  );
  await store.insert(makeDataKey(newMasterKey));
  const target = (await store.all()).find((row) => row.masterKeyId === masterKeyId(newMasterKey))!;
  const newBox = createSecretBox(newMasterKey, unwrapDataKey(newMasterKey, target));
  const oldRow = before.find((row) => row.masterKeyId === masterKeyId(oldMasterKey));
  const oldBox = createSecretBox(oldMasterKey, oldRow && unwrapDataKey(oldMasterKey, oldRow));
  const moved = await moveAll(rotation, { oldBox, newBox, prefix: sealedPrefix(target.id) });
  await store.keepOnly(target.id);
  return moved;
}

async function moveAll(
  { store, onProgress }: Rotation,
  { oldBox, newBox, prefix }: { readonly oldBox: SecretBox; readonly newBox: SecretBox; readonly prefix: string },
): Promise<number> {
  for (let moved = 0; ;) {
    const values = await store.notUnder(prefix, atOnce);
    if (values.length === 0) return moved;
    for (const value of values) {
      await store.replace(value, newBox.seal(oldBox.open(value.sealed, value.context), value.context));
      moved += 1;
    }
    onProgress?.(moved);
  }
}

function checkKnown(found: readonly string[], known: readonly string[]): void {
  const stranger = found.find((id) => !known.includes(id));
  if (stranger === undefined) return;
  throw new MasterKeyError(
    `The database's secrets are sealed under the master key ${stranger}, which is neither the old one (${known[0]}) nor the new one (${known[1]}).`,
  );
}
