/** A resource of the API. In the other rooms it has a part of its own: errors and events in the domain, tables in the store. */
import type { Agents, Channels, FindAuthority, OpenedSnapshots, Portable } from '@lodge/engine';
import type { ConnectionConsent, Cryptography, SecretBox, SkillReader } from '@lodge/ports';
import type { Store } from '@lodge/store';
import type { Config } from '../config/config.ts';

/** Everything that the use-cases of resources are made of. Each takes its needs. */
export interface Core extends Pick<Store, 'database' | 'changes'> {
  readonly config: Config;
  readonly agents: Agents;
  readonly channels: Channels;
  /** Opens snapshots. */
  readonly openedSnapshots: OpenedSnapshots;
  readonly portable: Portable;
  /** Asks the servers of connections for access. */
  readonly consent: ConnectionConsent;
  /** For hosts of connections. */
  readonly authority: FindAuthority;
  readonly skillReader: SkillReader;
  readonly secrets: SecretBox;
  readonly cryptography: Cryptography;
}

/** `open` makes the use-cases and begins nothing. The routes get them by the resource's name, beside the needs that they name. */
export interface Resource {
  open(core: Core): object;
  readonly routes: readonly object[];
}
