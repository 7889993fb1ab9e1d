/* oxlint-disable no-restricted-imports -- only tests import this file */
import { noSpendDefaults } from '@lodge/domain';
import type { SpendDefaults } from '@lodge/domain';
import type { CallLedger, CallSweeper, EndedOperation, RelayStore } from '@lodge/ports';
import { createTurns } from '../../../engine/src/channels/answering/turns.ts';
import type { ChannelTurns } from '../../../engine/src/channels/answering/turns.ts';
import { createRelayStore } from '../../../engine/src/channels/relaying/relay-store.ts';
import { createCallLedger } from '../../../engine/src/spend/ledger.ts';
import { createSpend } from '../../../engine/src/spend/spend.ts';
import type { Spend } from '../../../engine/src/spend/spend.ts';
import * as decisions from '../../../engine/src/agents/decisions.ts';
import * as observing from '../../../engine/src/lifecycle/observing.ts';
import * as agents from '../agents/index.ts';
import type { AgentRow, AgentFilter, Observation } from '../agents/index.ts';
import { openStore } from '../store.ts';
import type { Store, StoreConfig } from '../store.ts';
import { channelsFixture } from './channels-fixture.ts';

type Rest<Call> = Call extends (database: never, ...rest: infer Given) => unknown ? Given : never;

/** Writes and reads of agents' rows by engine and commands, by names, for tests that care for the rows alone. */
export function agentsFixture(
  { database, changes }: Pick<Store, 'database' | 'changes'>,
  tell: (operation: EndedOperation) => void,
) {
  return {
    create: (...given: Rest<typeof decisions.insertAdmitted>) => decisions.insertAdmitted(database, ...given),
    begin: (...given: Rest<typeof decisions.beginOperation>) => decisions.beginOperation(database, ...given),
    change: (...given: Rest<typeof decisions.changeAgent>) => decisions.changeAgent(database, ...given),
    markDeleted: (...given: Rest<typeof decisions.beginDelete>) => decisions.beginDelete(database, ...given),
    get: (accountId: string, id: string) => agents.findOwnAgent(database, accountId, id),
    find: (id: string) => agents.findAgent(database, id),
    list: (filter: AgentFilter) => database.repeatable((db) => agents.agentPage(db, filter)),
    present: (host: string): Promise<readonly AgentRow[]> =>
      database.repeatable((db) => agents.presentAgents(db, host)),
    all: () => database.repeatable(agents.allAgents),
    idle: (host: string, limit: number) => agents.idleAgents(database, host, limit),
    evictable: (host: string, limit: number) => agents.evictableAgents(database, host, limit),
    takeKeepAwake: (...given: Rest<typeof agents.takeKeepAwake>) => agents.takeKeepAwake(database, ...given),
    prolongKeepAwake: (...given: Rest<typeof agents.prolongKeepAwake>) => agents.prolongKeepAwake(database, ...given),
    endKeepAwake: (...given: Rest<typeof agents.endKeepAwake>) => agents.endKeepAwake(database, ...given),
    lease: (...given: Rest<typeof agents.leaseAgent>) => agents.leaseAgent(database, ...given),
    releaseLease: (id: string, holder: string) => agents.releaseAgent(database, id, holder),
    async observe(id: string, generation: number, holder: string, facts: Observation): Promise<boolean> {
      const observed = await observing.observeAgent(database, id, generation, holder, facts);
      if (observed.ended !== null) tell(observed.ended);
      return observed.written;
    },
    finishDelete: (id: string, holder: string) => observing.finishDelete(database, id, holder),
    onChange: (listener: (agentId: string | null) => void) => changes.on('agent_changed', listener),
  };
}

export interface TestStore extends Store {
  readonly agents: ReturnType<typeof agentsFixture>;
  readonly channels: ReturnType<typeof channelsFixture>;
  readonly channelTurns: ChannelTurns;
  readonly relay: RelayStore;
  readonly spend: Spend;
  ledgerOf(host: string): CallLedger & CallSweeper;
  onOperationEnded(listener: (operation: EndedOperation) => void): void;
}

/** As of `createSpend` and `createCallLedger`. */
interface CallOptions {
  readonly spendDefaults?: SpendDefaults;
  readonly contentBytes?: number;
}

/** The store with its agents, channels and model calls. */
export function withAgents(
  store: Store,
  { spendDefaults = noSpendDefaults, contentBytes }: CallOptions = {},
): TestStore {
  const listeners: ((operation: EndedOperation) => void)[] = [];
  const tell = (operation: EndedOperation) => listeners.forEach((listener) => listener(operation));
  return {
    ...store,
    agents: agentsFixture(store, tell),
    channels: channelsFixture(store),
    channelTurns: createTurns(store),
    relay: createRelayStore(store),
    spend: createSpend(store.database, spendDefaults),
    ledgerOf: (host) =>
      createCallLedger(store.database, host, { spendDefaults, ...(contentBytes && { contentBytes }) }),
    directoryOf: (host) => store.directoryOf(host, spendDefaults),
    onOperationEnded: (listener) => void listeners.push(listener),
  };
}

export const openTestStore = async (config: StoreConfig & CallOptions): Promise<TestStore> =>
  withAgents(await openStore(config), config);
