import type { MasterKeySource } from '@lodge/access';
import type { Config } from './config.ts';

/** Where this deployment's master key comes from. */
export function masterKeySource(
  config: Pick<Config, 'masterKey' | 'masterKeyCommand' | 'masterKeyFile'>,
): MasterKeySource {
  if (config.masterKey !== null) return { kind: 'text', base64: config.masterKey };
  if (config.masterKeyCommand !== null) return { kind: 'command', command: config.masterKeyCommand };
  return { kind: 'file', file: config.masterKeyFile };
}
