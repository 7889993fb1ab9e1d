/** The row of a fork: what it has of its parent, and what the request says. */
import { Refusal, checkBrowserSize, checkHasDashboard, defaultLifecycle, forkNote, sharedLimit } from '@lodge/domain';
import type { ForkInclude } from '@lodge/domain';
import { llmKeyContext } from '@lodge/ports';
import type { AgentRow, NewAgent, OwnField } from '@lodge/store/agents';
import type { SnapshotRow } from '@lodge/store/snapshots';
import type { ForkInput } from '../../agents/agents.ts';
import type { AgentsDeps } from '../../agents/deps.ts';
import { checkModelStays, checkedModels, chosenModel } from '../../agents/model-choice.ts';
import { checkedPeers } from '../../agents/peers.ts';
import { pairsOf } from '../../agents/update-agent.ts';
import { checkConfirmationField } from '../../confirmations/field.ts';
import { checkSizeOf, originIn } from './from-snapshot.ts';
import { sealedAgain } from './seal-again.ts';

/** Fields that a fork does not have of its parent. A further column of the owner's comes along by itself. */
const own = [
  'id',
  'accountId',
  'name',
  'status',
  'statusReason',
  'desired',
  'generation',
  'operation',
  'executionId',
  'templateId',
  'runtimeVersion',
  'vmAddress',
  'host',
  'machine',
  'settingsApplied',
  'egressApplied',
  'egressVersion',
  'packagesApplied',
  'packagesError',
  'skillsWanted',
  'skillsApplied',
  'skillsError',
  'hostAccess',
  'acknowledged',
  'nextFrom',
  'nextMemory',
  'nextImport',
  'forkedFrom',
  'restoreBack',
  'restoreMemory',
  'restoreTo',
  'turnNote',
  'turns',
  'crashes',
  'createdAt',
  'updatedAt',
  'startedAt',
  'pausedAt',
  'stoppedAt',
  'lastActiveAt',
  'llmKeys',
  'channels',
] as const satisfies readonly (keyof AgentRow)[];

type Inherited = Pick<AgentRow, Exclude<keyof AgentRow, (typeof own)[number]>>;

/** A column that Lodge writes must be in the list above: without it this does not compile. */
const apart: ReadonlySet<string> = new Set<keyof Inherited extends OwnField | 'runtimeKind' ? string : never>(own);

const inherited = (parent: AgentRow): Inherited =>
  Object.fromEntries(Object.entries(parent).filter(([field]) => !apart.has(field))) as unknown as Inherited;

/** Fields of the request that were checked against what else there is. */
export interface CheckedChange {
  readonly model: string;
  readonly models: AgentRow['models'];
  readonly peers: AgentRow['peers'];
}

/** Refuses a change that the forks cannot have. `id` is that of a fork. */
export async function checkForkChange(
  deps: AgentsDeps,
  parent: AgentRow,
  { change, include, llmKeys }: ForkInput,
  { id, snapshot }: { readonly id: string; readonly snapshot: Pick<SnapshotRow, 'size'> },
): Promise<CheckedChange> {
  const { runtimeKind: kind, accountId } = parent;
  checkSizeOf(snapshot, change.size);
  if (change.dashboard) checkHasDashboard(kind);
  checkBrowserSize(kind, change.size ?? parent.size, change.browser ?? parent.browser);
  const before = parent.llmKeys.map(({ provider }) => provider);
  const after = llmKeys === 'copy' ? before : [];
  if (change.model === undefined) checkModelStays(deps, parent, { before, after });
  if (change.confirmations) {
    if (change.confirmations.deliver.length > 0) {
      throw new Refusal('invalid_request', 'confirmations.deliver must be empty: a fork has no channels.');
    }
    const place = { accountId, agentId: include.includes('connections') ? parent.id : id };
    await checkConfirmationField(deps.database, place, change.confirmations, null);
  }
  return {
    model: change.model === undefined ? parent.model : chosenModel(deps, kind, change.model, after),
    models:
      change.models === undefined ? parent.models : checkedModels(change.models, deps.providers, parent.models ?? []),
    peers: change.peers ? await checkedPeers(deps, { accountId, id }, change.peers, parent.peers) : parent.peers,
  };
}

export interface OneFork {
  readonly id: string;
  readonly name: string;
  readonly nth: number;
}

/** The row of one fork. `parent` is read under its lock. */
export function forkRow(
  { secrets }: Pick<AgentsDeps, 'secrets'>,
  parent: AgentRow,
  snapshot: SnapshotRow,
  input: ForkInput,
  checked: CheckedChange,
  { id, name, nth }: OneFork,
): NewAgent {
  const { change, count, include, llmKeys } = input;
  const { confirmations } = parent;
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const has = (what: ForkInclude): boolean => include.includes(what);
  return {
    ...inherited(parent),
    // The conversations of its channels stay with the parent.
    confirmations: confirmations && { ...confirmations, deliver: [] },
    spendLimit: sharedLimit(parent.spendLimit, count + 1),
    ...(given as Partial<Omit<typeof change, 'lifecycle' | 'labels' | 'metadata' | 'model'>>),
    ...checked,
    lifecycle: change.lifecycle ? { ...defaultLifecycle, ...parent.lifecycle, ...change.lifecycle } : parent.lifecycle,
    labels: pairsOf('labels', parent.labels, change.labels) ?? parent.labels,
    metadata: pairsOf('metadata', parent.metadata, change.metadata) ?? parent.metadata,
    ...originIn(snapshot, has('browser')),
    // Its connections are the same, with the same placeholders.
    hostAccess: has('connections') ? parent.hostAccess : null,
    turnNote: forkNote({ id, name }, parent, { nth, count }),
    id,
    accountId: parent.accountId,
    name,
    size: change.size ?? parent.size,
    llmKeys:
      llmKeys === 'none'
        ? []
        : parent.llmKeys.map(({ provider, sealed, last4 }) => ({
            provider,
            last4,
            sealed: sealedAgain(secrets, sealed, {
              from: llmKeyContext(parent.id, provider),
              to: llmKeyContext(id, provider),
              what: `The key of the provider ${provider}`,
            }),
          })),
  };
}
