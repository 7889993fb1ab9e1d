import type { Machine, RuntimeFacts } from './machine.ts';

/** The data of a guest that moves with its agent to a VM of another template, as absolute paths. */
export interface CarriedData {
  readonly folders: readonly string[];
  /** Paths below them that belong to the template and stay as each template has them. */
  readonly except: readonly string[];
}

/** The id of the saved machine that is an agent's VM at rest. No other saved machine has such an id. */
export const restOf = (agentId: string): string => `${restStart}${agentId}`;

/** The agent whose VM at rest a saved machine is; null for any other. */
export const restedAgent = (id: string): string | null =>
  id.startsWith(restStart) ? id.slice(restStart.length) : null;

const restStart = 'rest-';

/** The wishes of a stop. */
export interface RestRequest {
  /** Opaque facts of the runtime, which `create` returns when it loads the memory. */
  readonly facts: RuntimeFacts;
  /** Data that is kept beside its disk, so that another VM can be made in its place. */
  readonly data?: CarriedData;
}

/** The wishes of a save. */
export interface SaveRequest {
  /** Names the saved machine: 1..64 of `a-z`, `0-9` and `-`. The same id twice is the same saved machine. */
  readonly id: string;
  /**
   * Whether the guest's memory is kept. Without it the disk alone is kept, as after a loss of power behind a sync. A machine
   * at rest has only what its stop kept.
   */
  readonly memory: boolean;
  /** Opaque facts of the runtime, which `create` returns when it loads the memory. */
  readonly facts: RuntimeFacts;
  /** A folder of the guest whose listing is kept, at most `maxListingBytes` of it; asked for before the guest stands still. */
  readonly listed?: string;
  /**
   * Nobody waits until the disk has its memory, which a loss of power in the next half minute may damage. For machines that
   * are started from at once.
   */
  readonly isHasty?: true;
}

/** Largest listing of a saved machine, bytes. */
export const maxListingBytes = 8 * 1024 * 1024;

/** The cost of a save. */
export interface Saving {
  /** Bytes of memory and device state written; 0 without memory. */
  readonly bytes: number;
  /** Bytes that its disk occupies over its template's. Other saved machines and the agent's VM may share them. */
  readonly diskBytes: number;
  /** Milliseconds for which the guest stood still. */
  readonly ms: number;
}

/** A machine at rest: a disk, its memory or none, and the facts that a start from it needs. Written once, then only read. */
export interface SavedMachine {
  readonly id: string;
  /** The agent and the execution that it was saved of. */
  readonly agentId: string;
  readonly executionId: string;
  readonly templateId: string;
  readonly machine: Machine;
  readonly memory: boolean;
  /** How a start from it begins here: `disk` when it has no memory, or when this host cannot take it. */
  readonly loads: 'memory' | 'disk';
  readonly facts: RuntimeFacts | null;
  readonly bytes: number;
  readonly diskBytes: number;
  /** Bytes that its files occupy, where those of a file that others have too are divided among all that have it. */
  readonly heldBytes: number;
  readonly savedAt: Date;
}

/** A start from a saved machine, which stays as it is. */
export interface FromSaved {
  readonly saved: string;
  /** Whether its memory is loaded; else its disk is booted. */
  readonly memory: boolean;
}

/** Saved machines of this instance on this host. */
export interface SavedMachines {
  /**
   * Saves the agent's VM of that execution and lets it go on as it was: a running one runs, a paused one stays paused. A VM
   * at rest is saved without copying. A rejection leaves the VM as it was and no part of the saved machine: `disk_full`,
   * `gone`, `timeout`. A crash leaves the VM, paused at worst, and the saved machine whole or not at all.
   */
  save(agentId: string, executionId: string, request: SaveRequest, signal: AbortSignal): Promise<Saving>;
  /**
   * Saves the VM with its memory as `restOf(agentId)`, and then frees process, namespace, memory and folder: the agent is
   * `suspended`. An agent that is so with this execution is a success. A rejection leaves the VM as it was: `disk_full`, with
   * `data` also when there is no room for a second disk, `gone`, `timeout`. A crash leaves the VM, paused at worst, or the
   * machine at rest.
   *
   * The machine at rest is the agent's: `collectSaved` leaves it alone, and it is freed by the VM that is created from it, once
   * that one is whole, by `dropSaved`, or by `remove`. While another VM is made in its place it is that one's `backup`.
   */
  rest(agentId: string, executionId: string, request: RestRequest, signal: AbortSignal): Promise<Saving>;
  /** Returns null when there is none. Rejects with `saved_damaged` when not even its facts can be read. */
  findSaved(id: string): Promise<SavedMachine | null>;
  /** Reads every byte of it. Returns null when it is whole, else the reason why it is damaged. Rejects with `saved_missing`. */
  checkSaved(id: string, signal: AbortSignal): Promise<string | null>;
  /**
   * Returns the listing of the folder that was asked for, as the guest gave it: records of `type size mtime path`, each ended
   * by a zero byte, the path relative to the folder; cut off at `maxListingBytes`. The guest chose every byte. Null when there
   * is none.
   */
  readListing(id: string): Promise<string | null>;
  /**
   * Gives its memory the form in which machines that are started from it share what they do not write, as clones of a template
   * do. It takes seconds and the disk space of a whole guest, and pays from three machines on. Idempotent; a machine without
   * memory stays as it is. Rejects with `saved_missing`, `saved_damaged` or `disk_full`.
   */
  shareSaved(id: string, signal: AbortSignal): Promise<void>;
  /** Makes `to` the same saved machine, without copying. An existing `to` is a success. */
  copySaved(from: string, to: string): Promise<void>;
  /** Frees it. Absence is a success. VMs that were started from it go on. */
  dropSaved(id: string): Promise<void>;
  /**
   * Frees all that are neither in `keep` nor in use by a call in progress nor made since `savedBefore`, the time at which the
   * caller began to gather `keep`. Returns their ids.
   */
  collectSaved(keep: ReadonlySet<string>, savedBefore: Date): Promise<readonly string[]>;
}
