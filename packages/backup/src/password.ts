import { hkdfSync } from 'node:crypto';

/** The password of the backups under a master key: nothing about that key can be learned from it. */
export function backupPassword(masterKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge backup password v1', 32)).toString('base64url');
}
