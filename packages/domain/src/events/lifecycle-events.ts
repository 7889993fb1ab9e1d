/** Events of an agent's machine. */
import type { StatusReasonCode } from '../agents/agent.ts';
import type { EgressMode } from '../egress.ts';
import type { OperationCause, OperationKind } from '../agents/operation.ts';
import type { SizeName } from '../agents/capacity.ts';
import type { VmDeathCode } from '../agents/vm-death.ts';
import { kind, quiet, told } from './kind.ts';
import type { EventKind, NoData } from './kind.ts';
import { because, duration, machineWords } from './words.ts';
import type { MachineData } from './words.ts';

/** The cause of the operation; null when none was in progress. */
type Because = { readonly cause: OperationCause | null };
type Took = { readonly duration_ms: number };

type Run = Because &
  Took &
  MachineData & { readonly from: 'clone' | 'boot' | 'snapshot' | 'saved_memory' | 'saved_disk' };

const sources = {
  clone: 'made from the template',
  boot: 'started from its disk',
  snapshot: 'resumed from the snapshot of its memory',
  saved_memory: 'resumed from a snapshot',
  saved_disk: 'started from the disk of a snapshot',
} as const;

const and = (sentence = ''): string => (sentence === '' ? '' : ` ${sentence}`);
const whyNot = (cause: OperationCause | null): string => (cause === null ? '' : ` ${because(cause)}`);

const runs = (meaning: string): EventKind<Run> => ({
  level: 'info',
  public: meaning,
  sentence: ({ from, cause, duration_ms, ...machine }) =>
    `Running: ${sources[from]}${whyNot(cause)} (${duration(duration_ms)}), with ${machineWords(machine)}.`,
});

/**
 * The state that an agent stopped with: its memory and disk, its disk alone, its disk after its VM ended by itself, or its
 * disk because Lodge was taken down. The duration is null when unknown.
 */
type Stopped = Because & {
  readonly kept: 'memory' | 'disk' | 'disk_after_crash' | 'disk_as_lodge_went';
  readonly duration_ms: number | null;
  readonly memory_mib: number | null;
} & Died;

/**
 * The reason why its VM ended by itself. Absent when it did not, when the reason is unknown, and in events of earlier
 * releases.
 */
type Died = { readonly code?: VmDeathCode; readonly message?: string };

function stoppedSentence({ cause, kept, duration_ms, memory_mib, message }: Stopped): string {
  switch (kept) {
    case 'memory':
      return duration_ms === null
        ? `Stopped ${because(cause)}; memory and disk are kept.`
        : `Stopped ${because(cause)} (${duration(duration_ms)}; ${memory_mib} MB of memory kept).`;
    case 'disk':
      return `Stopped ${because(cause)}; the disk is kept.`;
    case 'disk_as_lodge_went':
      return 'Stopped: Lodge was taken down. The disk is kept.';
    case 'disk_after_crash':
      return `Stopped: the VM ended by itself before its memory was saved. The next start is from its disk.${and(message)}`;
  }
}

/** The outcome of a stop or an upgrade that failed: the agent runs on, is as before, or was started from its disk. */
type NotDone = { readonly why: string | null; readonly outcome: 'runs_on' | 'as_before' | 'boots' };

const notDone = (what: string, meaning: string): EventKind<NotDone> => ({
  level: 'warn',
  public: meaning,
  sentence({ why, outcome }) {
    if (why === null)
      return 'The VM did not go on so that its work could end; the agent is being started from its disk.';
    const rest = {
      runs_on: 'It goes on running.',
      as_before: 'It goes on as it was.',
      boots: 'It did not go on either and is being started from its disk.',
    }[outcome];
    return `The agent was not ${what}: ${why}. ${rest}`;
  },
});

function egressWords(mode: EgressMode, entries: number): string {
  switch (mode) {
    case 'public':
      return 'every public address can be reached';
    case 'allowlist':
      return `what the allow list names can be reached (${entries} ${entries === 1 ? 'entry' : 'entries'})`;
    case 'none':
      return 'nothing but the model broker can be reached';
  }
}

const said = (sentence: string, meaning: string | null = null) =>
  kind<NoData>({ level: 'warn', public: meaning, sentence: () => sentence });

export const lifecycleEvents = {
  'agent.operation_begun': quiet<{ readonly kind: OperationKind; readonly cause: OperationCause }>(),
  'agent.operation_ended': told<{ readonly kind: OperationKind | null; readonly cause: OperationCause | null }>(
    'An operation had nothing left to do: the agent is as it was.',
  ),
  'agent.waiting': kind<{ readonly runtime: string; readonly step: string }>({
    level: 'info',
    public: null,
    sentence: ({ runtime, step }) => `The ${runtime} template is being made: ${step}.`,
  }),
  'agent.provisioning': quiet(),
  'agent.provisioned': runs('The agent runs for the first time.'),
  'agent.started': runs('The agent runs again after a start or a resume.'),
  'agent.restarted': runs('The agent runs again after a restart that was asked for.'),
  'agent.recovered': runs('The agent runs again after it failed: its VM had ended, or its gateway had not answered.'),
  'agent.resumed': kind<Because & Took>({
    level: 'info',
    public: 'A paused agent runs again.',
    sentence: ({ cause, duration_ms }) => `Resumed${whyNot(cause)} (${duration(duration_ms)}).`,
  }),
  'agent.paused': kind<Because & Took>({
    level: 'info',
    public: 'The CPUs of the agent are frozen; its memory stays.',
    sentence: ({ cause, duration_ms }) => `Paused ${because(cause)} (${duration(duration_ms)}).`,
  }),
  'agent.pause_failed': said(
    'Not paused: the VM did not stop in time. It goes on running.',
    'The agent was not paused, and goes on running.',
  ),
  'agent.stopped': kind<Stopped>({
    level: ({ kept }) => (kept === 'disk_after_crash' ? 'warn' : 'info'),
    public: 'The agent holds no CPU and no memory; `kept` says what its next start begins with.',
    sentence: stoppedSentence,
  }),
  'agent.stop_failed': notDone('stopped', 'The agent was not stopped; `outcome` says how it goes on.'),
  'agent.start_failed': kind<{ readonly code: StatusReasonCode; readonly message: string }>({
    level: 'warn',
    public: 'The agent was not started, and stays stopped; `code` and `message` say why.',
    sentence: ({ message }) => `Not started: ${message}`,
  }),
  'agent.starting': kind<Because>({
    level: 'info',
    public: 'The agent is being started from its disk.',
    sentence: ({ cause }) => `Starting from its disk ${because(cause)}.`,
  }),
  'agent.restarting': kind<Because>({
    level: 'info',
    public: 'The agent is being restarted.',
    sentence: ({ cause }) => `Restarting ${because(cause)}.`,
  }),
  'agent.gateway_unhealthy': said(
    'The gateway did not answer; the agent is being started again from its disk.',
    'The gateway of the agent did not answer; the agent is being started again from its disk.',
  ),
  'agent.crashed': kind<Died>({
    level: 'warn',
    public: 'The VM of the agent ended by itself; it is started again from its disk. `code` and `message` say why.',
    sentence: ({ message }) =>
      `The VM ended unexpectedly; the agent is being started again from its disk.${and(message)}`,
  }),
  'agent.restore_failed': kind<{ readonly missing: boolean; readonly foreign?: boolean }>({
    level: 'warn',
    public: null,
    sentence: ({ missing, foreign }) => {
      const elsewhere = 'was saved on a host with another processor or emulator and does not load on this one';
      const why = foreign ? elsewhere : missing ? 'is not there or is damaged' : 'could not be resumed';
      return `The snapshot of the agent's memory ${why}; it is being started from its disk instead.`;
    },
  }),
  'agent.resume_failed': said(
    'The paused VM could not be resumed; the agent is being started from its disk instead.',
    'A paused agent could not go on; it is being started from its disk.',
  ),
  'agent.error': kind<{ readonly code: StatusReasonCode; readonly message: string }>({
    level: 'error',
    public: 'Lodge gave up on the agent until somebody asks again; `code` and `message` say why.',
    sentence: ({ message }) => `In error: ${message}`,
  }),
  'agent.taken_down': kind<NoData>({
    level: 'info',
    public: null,
    sentence: () => 'Lodge was taken down, and the machine with it. The next start of Lodge starts it from its disk.',
  }),
  'agent.upgrading': kind<Because>({
    level: 'info',
    public: 'The agent is being moved to the newest image.',
    sentence: ({ cause }) => `Upgrading ${because(cause)}: its machine is made anew from the newest image.`,
  }),
  'agent.upgraded': kind<Took & MachineData & { readonly runtime: string; readonly version: string }>({
    level: 'info',
    public: 'The agent runs on the newest image.',
    sentence: ({ runtime, version, duration_ms, ...machine }) =>
      `Running on the newest image, ${runtime} ${version} (${duration(duration_ms)}), with ${machineWords(machine)}.`,
  }),
  'agent.upgrade_failed': notDone(
    'upgraded',
    'The agent was not moved to the newest image; `outcome` says how it goes on.',
  ),
  'agent.restoring': kind<Because & { readonly snapshot_id: string }>({
    level: 'info',
    public: 'The present of the agent is saved, if that was wanted; its machine is being started from the snapshot.',
    sentence: ({ snapshot_id }) => `Going back to the snapshot ${snapshot_id}.`,
  }),
  'agent.restored': kind<Because & Took & { readonly snapshot_id: string; readonly loaded: 'memory' | 'disk' | null }>({
    level: 'info',
    public:
      'The machine of the agent is that of a snapshot; `loaded` says whether with its memory, and is null for a stopped agent, whose next start begins from it.',
    sentence({ snapshot_id, loaded, duration_ms }) {
      const of = `the snapshot ${snapshot_id}`;
      if (loaded === null) return `Restored: the next start begins from ${of}.`;
      const how = loaded === 'memory' ? 'resumed from' : 'started from the disk of';
      return `Restored: ${how} ${of} (${duration(duration_ms)}).`;
    },
  }),
  'agent.restore_undone': kind<{ readonly snapshot_id: string; readonly why: string }>({
    level: 'warn',
    public: 'The agent did not go back to a snapshot, and is as it was; `why` says the reason.',
    sentence: ({ snapshot_id, why }) =>
      `The agent did not go back to the snapshot ${snapshot_id}, and is as it was: ${why}.`,
  }),
  'agent.exported': kind<Took & { readonly snapshot_id?: string }>({
    level: 'info',
    public: 'The agent, or its snapshot `snapshot_id`, was read for an export.',
    sentence: ({ snapshot_id, duration_ms }) =>
      `${snapshot_id === undefined ? 'Read' : `Snapshot ${snapshot_id} read`} for an export (${duration(duration_ms)}).`,
  }),
  'agent.export_failed': kind<{ readonly why: string }>({
    level: 'warn',
    public: 'The agent was not exported; `why` says the reason.',
    sentence: ({ why }) => `Not exported: ${why}`,
  }),
  'agent.resized': kind<
    Took &
      MachineData & {
        /** The part of the size that is missing until the next start; null when none is. */
        readonly size: SizeName | null;
        readonly size_vcpus: number;
        readonly size_memory_mib: number;
      }
  >({
    level: 'info',
    public: 'The machine of the agent has the size that was asked for, or as much of it as a running machine can take.',
    sentence({ size, size_vcpus, size_memory_mib, duration_ms, ...machine }) {
      const wanted = machineWords({ vcpus: size_vcpus, memory_mib: size_memory_mib });
      const rest = size === null ? '' : `; ${wanted}, as size ${size} has, at its next start`;
      return `The machine now has ${machineWords(machine)} (${duration(duration_ms)})${rest}.`;
    },
  }),
  'agent.resize_failed': kind<{ readonly size: SizeName }>({
    level: 'warn',
    public: 'The machine keeps its size until the next start.',
    sentence: ({ size }) => `The machine keeps its size for now; size ${size} is in effect at its next start.`,
  }),
  'agent.settings_applied': kind<Took>({
    level: 'info',
    public: 'Changed settings are in effect in the machine.',
    sentence: ({ duration_ms }) => `Changed settings are in effect (${duration(duration_ms)}).`,
  }),
  'agent.settings_delayed': said('Changed settings are not in effect in the machine yet; it is tried again.'),
  'agent.packages_installed': kind<Took>({
    level: 'info',
    public: 'The packages of the agent are installed in its machine.',
    sentence: ({ duration_ms }) => `The packages are installed (${duration(duration_ms)}).`,
  }),
  'agent.packages_failed': kind<{ readonly message: string }>({
    level: 'warn',
    public: 'The packages of the agent are not installed; `message` says why. It is tried again.',
    sentence: ({ message }) => `The packages are not installed. ${message}`,
  }),
  'agent.skills_loaded': kind<Took & { readonly skills: number; readonly not_loaded: readonly string[] }>({
    level: 'info',
    public:
      'The skills of the agent are in its machine as they are wanted. `skills` says how many the runtime offers; it does not offer those in `not_loaded`.',
    sentence: ({ duration_ms, skills, not_loaded }) =>
      `The machine has the wanted skills (${duration(duration_ms)}); the runtime offers ${skills}${not_loaded.length === 0 ? '' : `, and not ${not_loaded.join(', ')}`}.`,
  }),
  'agent.skills_failed': kind<{ readonly message: string }>({
    level: 'warn',
    public: 'The machine does not have the wanted skills; `message` says why. It is tried again.',
    sentence: ({ message }) => `The machine does not have the wanted skills. ${message}`,
  }),
  'agent.egress_applied': kind<{ readonly mode: EgressMode; readonly entries: number }>({
    level: 'info',
    public: 'Changed egress rules are in effect.',
    sentence: ({ mode, entries }) => `Changed egress rules are in effect: ${egressWords(mode, entries)}.`,
  }),
  'agent.egress_delayed': said('Changed egress rules are not in effect on the machine yet; it is tried again.'),
  'agent.out_of_memory': said("The machine ran out of memory: the guest's kernel ended a process of the agent."),
  'agent.disk_full': kind<{ readonly free_mib: number }>({
    level: 'warn',
    public: null,
    sentence: ({ free_mib }) => `The agent's disk is full: ${free_mib} MB are left.`,
  }),
  'agent.loop_detected': kind<{ readonly message: string }>({
    level: 'warn',
    public: null,
    sentence: ({ message }) => message,
  }),
  /** Nothing of a deleted agent is left on its host. */
  'agent.removed': quiet(),
} as const;
