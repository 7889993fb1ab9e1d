import type { MasterKeySource } from '@lodge/access';
import type { Config } from './config.ts';

/** Where this deployment's master key comes from. */
export function masterKeySource(config: Config): MasterKeySource {
  return { kind: 'file', file: config.masterKeyFile };
}
