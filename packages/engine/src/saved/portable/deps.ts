import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, Log } from '@lodge/ports';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { Agents } from '../../agents/agents.ts';
import type { DiskKeeper } from '../../lifecycle/disk/keeper.ts';
import type { OpenedSnapshots } from '../files/opened.ts';
import type { Exports } from './exports.ts';
import type { PortableParts } from './parts.ts';

/** Dependencies of exports and imports. */
export interface PortableDeps extends Pick<Store, 'changes'> {
  readonly database: Database;
  readonly agents: Pick<Agents, 'use' | 'get' | 'create'>;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  /** The version of each kind that a new agent gets. */
  readonly versions: () => ReadonlyMap<RuntimeKind, string>;
  readonly disk: Pick<DiskKeeper, 'holdRoom'>;
  readonly holder: string;
  readonly exports: Exports;
  readonly opened: Pick<OpenedSnapshots, 'use'>;
  readonly log: Log;
  readonly parts: PortableParts;
}
