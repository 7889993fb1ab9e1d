/**
 * The engine: use-cases that write the desired state, and the loops that bring it about. They reconcile, put idle agents to
 * sleep, make room in memory, keep the disk from running full, watch health and keep templates. The engine owns no state
 * that a restart would lose: all it needs is in the store and on the host.
 */
import { randomUUID } from 'node:crypto';
import { defaultDisk, defaultSnapshotGib, FairGate } from '@lodge/domain';
import type { DiskSettings } from '@lodge/domain';
import { agentSettings } from './agents/agent-settings.ts';
import type { Agents, AskedTurn } from './agents/agents.ts';
import { guestOfRow } from './agents/guest-of.ts';
import { createHost } from './host/host.ts';
import type { Host } from './host/host.ts';
import { DiskKeeper } from './lifecycle/disk/keeper.ts';
import { endingsOf } from './lifecycle/endings.ts';
import type { BeforeEnd, Endings } from './lifecycle/endings.ts';
import { Idleness } from './lifecycle/idle/idleness.ts';
import { watchMemory } from './lifecycle/idle/watch-memory.ts';
import type {
  AgentSettings,
  CallLedger,
  EndedOperation,
  Gateway,
  GuestPackages,
  HostLook,
  ImageBuilder,
  MakeCall,
  RuntimeVersions,
  VmDriver,
} from '@lodge/ports';
import { allAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { snapshotTemplates } from '@lodge/store/snapshots';
import { createAgentReconciler } from './lifecycle/reconcile/agent.ts';
import { defaultBounds, pacedBounds } from './lifecycle/reconcile/deps.ts';
import type { StepBounds } from './lifecycle/reconcile/deps.ts';
import { createLeftoverCollector } from './lifecycle/reconcile/leftovers.ts';
import { ReconcileLoop } from './lifecycle/reconcile/loop.ts';
import { Installs } from './lifecycle/reconcile/installs.ts';
import { RulesPut } from './lifecycle/reconcile/rules-put.ts';
import { HealthWatch } from './lifecycle/supervise/health.ts';
import { Exports, openPortable } from './saved/portable/open.ts';
import type { Portable, PortableParts } from './saved/portable/open.ts';
import type { SnapshotBounds } from './saved/place.ts';
import { SnapshotKeeper } from './saved/keeper.ts';
import { OpenedSnapshots } from './saved/files/opened.ts';
import type { OpenedBounds } from './saved/files/opened.ts';
import { createSpending } from './spend/spending.ts';
import type { SpendingDeps } from './spend/spending.ts';
import { createTemplates } from './templates/templates.ts';
import type { TemplateProgress, Templates } from './templates/templates.ts';
import { createAgents } from './agents/use-cases.ts';
import { createAnswering } from './channels/answering/answering.ts';
import { defaultAnsweringBounds } from './channels/answering/bounds.ts';
import { createTurns } from './channels/answering/turns.ts';
import { heldPictures } from './channels/attachments/turn-pictures.ts';
import { createChannels } from './channels/channels.ts';
import type { Channels } from './channels/channels.ts';
import type { ChannelParts } from './channels/deps.ts';
import { defaultScheduleBounds } from './schedules/bounds.ts';
import { createFiring } from './schedules/firing.ts';
import { scheduleRuns } from './schedules/runs.ts';
import type { ScheduleParts } from './schedules/schedules.ts';
import { defaultHookBounds } from './hooks/bounds.ts';
import type { HookParts } from './hooks/hooks.ts';
import { hookMessages } from './hooks/messages.ts';
import { openConfirming } from './confirmations/confirming.ts';
import type { Asking, ConfirmationParts, Confirming } from './confirmations/confirming.ts';
import type { DecideInTurn } from './confirmations/in-turn.ts';
import { defaultLoopBounds } from './work/bounds.ts';
import type { LoopBounds } from './work/bounds.ts';
import { createWorkRunner } from './work/runner.ts';
import type { AgentsDeps } from './agents/deps.ts';
import { KeepAwakeLeases } from './turns/keep-awake.ts';
import { createRunTurn } from './turns/run-turn.ts';
import type { RunTurn, TurnOrigin } from './turns/run-turn.ts';
import { TurnWaits } from './turns/waits.ts';

type Given = 'changes' | 'driver' | 'runtimes' | 'providers' | 'secrets' | 'keyChecker' | 'log' | 'defaultModel';
type Limits = 'maxAgentsPerAccount' | 'maxRunningPerAccount' | 'memory';

export interface EngineDeps extends Pick<AgentsDeps, Given | Limits>, Pick<SpendingDeps, 'spend' | 'loopBounds'> {
  readonly database: Database;
  readonly driver: VmDriver;
  /** Reads the VM's counters before its end; see `Meter`. */
  readonly beforeEnd: BeforeEnd;
  readonly images: ImageBuilder;
  /** Runtime versions that are installed beside those that Lodge brings. */
  readonly versions?: RuntimeVersions;
  /** How often the engine looks which versions are offered; 10 s by default. */
  readonly versionsEveryMs?: number;
  /** `defaultDisk` if it is not given. */
  readonly disk?: DiskSettings;
  /** Talks to the gateways inside guests. */
  readonly gateway: Gateway;
  /** Installs the packages that owners want in guests; without it nothing does. */
  readonly packages?: GuestPackages;
  /** Whether guests reach the package sources through the host alone, whatever their egress. */
  readonly packagesThroughHost?: boolean;
  /** Names this host's control plane; the same after a restart. */
  readonly holder: string;
  readonly provisionTimeoutMs: number;
  /** Bounds of the other steps, where the defaults (`defaultBounds`) do not fit. */
  readonly bounds?: Partial<Omit<StepBounds, 'provisionMs'>>;
  /** Below this available memory on the host, MiB, paused agents are stopped; `memory.reservedMib` by default. */
  readonly memoryWatermarkMib?: number;
  /** How often gateways are checked; 30 s by default. */
  readonly healthEveryMs?: number;
  /** How often the engine looks for idle agents; 1 s by default. */
  readonly idleEveryMs?: number;
  /** Bounds on the snapshots of an account; `defaultSnapshotGib` by default. */
  readonly snapshots?: SnapshotBounds;
  /** Exports and imports of agents; without them there are none. */
  readonly portable?: PortableParts;
  /** How often the engine looks after snapshots; 10 s by default. */
  readonly snapshotsEveryMs?: number;
  /** Bounds of opened snapshots, where the defaults do not fit. */
  readonly openedBounds?: Partial<OpenedBounds>;
  /** OpenedSnapshots at the machine beneath Lodge, for its owner; without it nothing is known of its weaknesses. */
  readonly hostLook?: HostLook;
  /** Called when a turn begins; returns a function to call when it has ended. */
  readonly onTurn?: (origin: TurnOrigin) => () => void;
  /** Called with each operation that this process ended, once its event is committed. */
  readonly onOperationEnded?: (operation: EndedOperation) => void;
  /** Messaging channels; without them there are none. */
  readonly channels?: ChannelParts;
  /** Bounds of the loop that does the work of the queue, where the defaults do not fit. */
  readonly work?: Partial<LoopBounds>;
  /** Schedules; without them there are none. */
  readonly schedules?: ScheduleParts;
  /** Inbound hooks; without them there are none. */
  readonly hooks?: HookParts;
  /** Confirmations; without them nothing does what is decided. */
  readonly confirmations?: ConfirmationParts;
}

export interface Engine {
  readonly agents: Agents;
  /** Throws where the engine was given no channels. */
  readonly channels: Channels;
  /** Null where the engine was given no parts for it. */
  readonly portable: Portable | null;
  /** The state of the machine, for its owner. */
  readonly host: Host;
  /** Opens snapshots, to read their files. */
  readonly openedSnapshots: OpenedSnapshots;
  /** Makes a turn of an agent, whoever asks. */
  readonly runTurn: RunTurn;
  /** Asks owners about calls of their agents. */
  readonly asking: Asking;
  /** Decides about calls of an agent with a message to it. */
  readonly decideInTurn: DecideInTurn;
  /** Says who makes allowed calls that no turn waits for. Until it is given, they fail. */
  makeCallsBy(make: MakeCall): void;
  /** The askers of an agent's turns that are running on this host. */
  askedTurns(agentId: string): readonly AskedTurn[];
  /** Whether an agent's packages are being installed by way of the host. */
  reachesPackages(agentId: string): boolean;
  /** Whether the host's disk has room for dispensable data, such as kept replies and contents. */
  hasRoom(): boolean;
  /** Wraps the broker's ledger: calls are assigned to turns, and calls that go in circles are cut. */
  watchCalls(ledger: CallLedger): CallLedger;
  /** Begins to reconcile and to make templates; the driver has started. */
  start(): void;
  /** Ends all work in progress; VMs stay. */
  stop(): Promise<void>;
  templateProgress(): readonly TemplateProgress[];
  onTemplateProgress(listener: (progress: TemplateProgress) => void): () => void;
}

/** Concurrent passes. Most wait for a guest or a disk; those that need the CPU take turns by `slots`. */
const concurrency = 64;
/** A guest that does not answer holds the slot of its save for seconds, so one account never has them all. */
const slotBounds = {
  warm: { inAll: 4, perName: 4 },
  cold: { inAll: 2, perName: 2 },
  save: { inAll: 3, perName: 2, few: 1 },
  /** An install that hangs holds its slot for many minutes. */
  install: { inAll: 4, perName: 2, few: 1 },
} as const;
const scanIntervalMs = 10_000;
const deleteWaitMs = 60_000;
const healthEveryMs = 30_000;
const idleEveryMs = 1_000;
const snapshotsEveryMs = 10_000;
const collectEveryMs = 10 * 60_000;

export function createEngine(deps: EngineDeps): Engine {
  const { database, changes, driver, runtimes, secrets, log } = deps;
  const templates = openTemplates(deps);
  const settingsOf = (agent: AgentRow): AgentSettings => agentSettings(agent, deps);
  const endings = endingsOf(driver, deps.beforeEnd);
  const disk = openDisk(deps, endings);
  const room = watchMemory({ ...deps, disk, lookEveryMs: deps.idleEveryMs ?? idleEveryMs });
  const keepAwake = new KeepAwakeLeases(database, log, `${deps.holder}/${randomUUID()}`);
  const idleness = new Idleness({ ...deps, disk, lookEveryMs: deps.idleEveryMs ?? idleEveryMs });
  const { spend, turns, sleeper } = createSpending(deps);
  const health = watchHealth(deps, templates);
  const installs = openInstalls(deps, keepAwake, (id) => loop.wake(id));
  const opened = new OpenedSnapshots({ ...deps, ...room, endings, disk, bounds: deps.openedBounds });
  const exports = new Exports();
  const parts = { templates, settingsOf, health, keepAwake, disk, endings, installs, opened, exports };
  const loop: ReconcileLoop = createLoop(deps, parts);
  const agents = createAgents({ ...deps, ...room, spend, turns, templates, settingsOf, keepAwake, disk, deleteWaitMs });
  const waits = new TurnWaits();
  const runTurn = createRunTurn({ ...deps, agents, waits });
  const channels = deps.channels && createChannels({ ...deps.channels, agents, secrets, database, changes, log });
  const confirming = openConfirming(deps, (agentId) => turns.placeOf(agentId), waits);
  const { portable, imports } = openPortable({ ...deps, ...parts, agents });
  const watches = [idleness, room.held, room.relief, health, sleeper, confirming.expiring];
  const keepers = [keepSnapshots(deps, disk), ...imports];
  const loops = [loop, disk, ...keepers, ...watches, ...askers(deps, agents, runTurn, confirming)];
  return {
    agents,
    get channels() {
      return given(channels, 'channels');
    },
    portable,
    host: createHost({ ...deps, templates }),
    openedSnapshots: opened,
    runTurn,
    asking: confirming.asking,
    decideInTurn: confirming.decideInTurn,
    makeCallsBy: (make) => confirming.makeBy(make),
    askedTurns: (agentId) => turns.asked(agentId),
    reachesPackages: (agentId) => installs?.isOpen(agentId) ?? false,
    hasRoom: () => disk.hasRoom,
    watchCalls: (ledger) => turns.watch(ledger),
    start() {
      templates.start();
      keepAwake.start();
      for (const part of loops) part.start();
    },
    async stop() {
      keepAwake.stop();
      // Parts stop all at once: one that waits for something slow must not keep the others at work.
      await Promise.all([...loops, templates, opened].map((part) => part.stop()));
      await installs?.stop();
    },
    templateProgress: () => [...runtimes.keys()].map((kind) => templates.progress(kind)),
    onTemplateProgress: (listener) => templates.onProgress(listener),
  };
}

const openDisk = ({ disk: settings = defaultDisk, ...deps }: EngineDeps, endings: Endings): DiskKeeper =>
  new DiskKeeper({ ...deps, endings, settings });

const keepSnapshots = (deps: EngineDeps, disk: DiskKeeper): SnapshotKeeper =>
  new SnapshotKeeper({
    ...deps,
    disk,
    bounds: deps.snapshots ?? { accountGib: defaultSnapshotGib },
    everyMs: deps.snapshotsEveryMs ?? snapshotsEveryMs,
  });

function openInstalls(
  { packages, log }: EngineDeps,
  keepAwake: KeepAwakeLeases,
  wake: (agentId: string) => void,
): Installs | null {
  if (packages === undefined) return null;
  return new Installs({ packages, keepAwake, slots: new FairGate(slotBounds.install), log, wake });
}

function openTemplates(deps: EngineDeps): Templates {
  const { database, driver, images, runtimes, versions, versionsEveryMs, log } = deps;
  return createTemplates({
    driver,
    images,
    runtimes,
    log,
    ...(versions && { versions }),
    ...(versionsEveryMs !== undefined && { lookEveryMs: versionsEveryMs }),
    buildTimeoutMs: deps.provisionTimeoutMs,
    collectEveryMs,
    inUse: async () => {
      const agents = await database.repeatable(allAgents);
      const saved = await database.repeatable(snapshotTemplates);
      return new Set([...agents.flatMap(({ templateId }) => templateId ?? []), ...saved]);
    },
  });
}

function given<Part>(part: Part | undefined, what: string): Part {
  if (part === undefined) throw new Error(`the engine was given no ${what}`);
  return part;
}

/** Parts that make agents take turns without a waiting request. */
const askers = (deps: EngineDeps, agents: Agents, runTurn: RunTurn, confirming: Confirming) => [
  ...answering(deps, agents, runTurn),
  ...working(deps, agents, runTurn, confirming),
];

/** Answers on channels, if there are any. */
function answering({ channels, database, changes, holder, log }: EngineDeps, agents: Agents, runTurn: RunTurn) {
  if (!channels) return [];
  const bounds = { ...defaultAnsweringBounds, ...channels.bounds };
  // Two servers of one host have separate claims.
  const own = `${holder}/${randomUUID()}`;
  const turns = createTurns({ database, changes });
  return [createAnswering({ ...channels, turns, bounds, held: heldPictures(), agents, runTurn, log, holder: own })];
}

/** Makes turns of what schedules and third parties cause, if there are any. */
function working(
  { schedules, hooks, confirmations, ...deps }: EngineDeps,
  agents: Agents,
  runTurn: RunTurn,
  confirming: Confirming,
) {
  if (!schedules && !hooks && !confirmations) return [];
  const { database, changes, holder: host, log } = deps;
  const onWork = (listener: () => void) => changes.on('work', listener);
  const bounds = { ...defaultLoopBounds, ...deps.work };
  const { lookEveryMs } = bounds;
  const ofSchedules = { ...defaultScheduleBounds, ...schedules?.bounds };
  const kinds = {
    ...(schedules && { run: scheduleRuns(ofSchedules) }),
    ...(hooks && { message: hookMessages({ ...defaultHookBounds, ...hooks.bounds }) }),
    ...(confirmations && { confirmation: confirming.work }),
  };
  const firing = schedules ? createFiring({ database, bounds: ofSchedules, lookEveryMs, log }) : [];
  const holder = `${host}/${randomUUID()}`;
  return [...firing, createWorkRunner({ database, agents, runTurn, log, kinds, bounds, holder, host, onWork })];
}

interface LoopParts {
  readonly templates: Templates;
  readonly settingsOf: (agent: AgentRow) => AgentSettings;
  readonly health: HealthWatch;
  readonly keepAwake: KeepAwakeLeases;
  readonly disk: DiskKeeper;
  readonly endings: Endings;
  readonly installs: Installs | null;
  readonly opened: OpenedSnapshots;
  readonly exports: Exports;
}

function createLoop(deps: EngineDeps, parts: LoopParts): ReconcileLoop {
  const { templates, settingsOf, health, keepAwake, disk, endings, installs, opened, exports } = parts;
  const { database, changes, driver, runtimes, log, holder } = deps;
  const bounds = { ...defaultBounds, ...deps.bounds, provisionMs: deps.provisionTimeoutMs };
  const reconcileAgent = createAgentReconciler({
    database,
    changes,
    onOperationEnded: deps.onOperationEnded,
    driver,
    endings,
    templates,
    runtimes,
    settingsOf,
    log,
    holder,
    keepAwake,
    rulesPut: new RulesPut(),
    installs,
    packagesThroughHost: deps.packagesThroughHost ?? false,
    portable: deps.portable ? { ...deps.portable, exports } : null,
    disk,
    get bounds() {
      return pacedBounds(bounds, driver.pace);
    },
    slots: {
      warm: new FairGate(slotBounds.warm),
      cold: new FairGate(slotBounds.cold),
      save: new FairGate(slotBounds.save),
    },
    trouble: (id) => health.trouble(id),
  });
  const collectLeftovers = createLeftoverCollector({ database, driver, endings, log, opened });
  return new ReconcileLoop({
    database,
    changes,
    driver,
    log,
    holder,
    reconcileAgent,
    collectLeftovers,
    concurrency,
    scanIntervalMs,
  });
}

function watchHealth(deps: EngineDeps, templates: Templates): HealthWatch {
  const { database, log, holder, runtimes } = deps;
  return new HealthWatch({
    database,
    log,
    holder,
    lookEveryMs: deps.healthEveryMs ?? healthEveryMs,
    pace: () => deps.driver.pace,
    async look(agent, signal) {
      const template = agent.templateId === null ? null : await templates.get(agent.templateId);
      if (template === null) throw new Error("the template of the agent's disk is gone");
      return runtimes.get(agent.runtimeKind)!.health(guestOfRow(deps.driver, agent), template.facts, signal);
    },
  });
}
