import type { HostMemory, RuntimeKind } from '@lodge/domain';
import type { DiskKeeper } from '../lifecycle/disk/keeper.ts';
import type { DriverInUse } from '../lifecycle/endings.ts';
import type { HeldMemory } from '../lifecycle/idle/held.ts';
import type { MemoryRelief } from '../lifecycle/idle/memory.ts';
import type { AgentRuntime, AgentSettings, KeyChecker, Log, Provider, SecretBox } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { Spend } from '../spend/spend.ts';
import type { Turns } from '../turns/loop-guard.ts';
import type { Templates } from '../templates/templates.ts';
import type { KeepAwakeLeases } from '../turns/keep-awake.ts';

/** Dependencies of the use-cases. */
export interface AgentsDeps {
  readonly database: Database;
  /** Calls back with what changed on a topic in any process. */
  readonly changes: Store['changes'];
  readonly driver: DriverInUse;
  readonly templates: Templates;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly providers: readonly Provider[];
  readonly secrets: SecretBox;
  /** Without it no key is ever checked. */
  readonly keyChecker?: KeyChecker;
  readonly spend: Pick<Spend, 'asleep'>;
  readonly turns: Turns;
  readonly settingsOf: (agent: AgentRow) => AgentSettings;
  readonly log: Log;
  readonly keepAwake: KeepAwakeLeases;
  readonly relief: MemoryRelief;
  readonly held: HeldMemory;
  readonly disk: Pick<DiskKeeper, 'host' | 'holders' | 'usedMib'>;
  /** Names this host's control plane, which does not reach guests of other hosts. */
  readonly holder: string;
  /** Model of an agent whose create named none. */
  readonly defaultModel: string;
  readonly maxAgentsPerAccount: number;
  /** No bound where it is not given. */
  readonly maxRunningPerAccount?: number;
  readonly memory: Pick<HostMemory, 'reservedMib' | 'overcommit'>;
  /** Longest wait of a delete until nothing is left. */
  readonly deleteWaitMs: number;
}
