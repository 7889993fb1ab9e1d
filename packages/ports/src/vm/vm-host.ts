import type { GuestConnection } from '../guest/guest-address.ts';

/** An agent's use of the disk that all agents share. */
export interface DiskUse {
  readonly agentId: string;
  /** The execution of its VM, if it has one that can be paused. */
  readonly executionId: string | null;
  /** Size of its disk and of its emulator's log. */
  readonly diskMib: number;
  readonly snapshotMib: number;
}

/** The host of VMs. */
export interface VmHost {
  /**
   * Host address on which the broker must listen. Traffic to a guest's fixed broker address arrives here, at `brokerPort`.
   */
  readonly brokerHost: string;
  /**
   * The host's pace (`@lodge/domain`): the factor by which a guest's own work may take longer here. It is that of the
   * slowest template seen, and 1 before there is one.
   */
  readonly pace: number;
  /**
   * Prepares the host (network, accelerator check), adopts VMs that outlived an earlier process, and removes everything that
   * belongs to no run directory. Call it once, first.
   */
  start(): Promise<void>;
  /** Stops watching. Leaves every VM running. */
  stop(): Promise<void>;
  /**
   * Connects to a TCP port of the agent's guest. The signal and a minute bound it. Also answers before `start`. Rejects with
   * `gone` when the agent has no VM here, and with `unreachable` when nothing accepts the connection.
   */
  dial(agentId: string, port: number, signal: AbortSignal): Promise<GuestConnection>;
  /** The host's memory in MiB: `total`, and `available` as the kernel estimates it. */
  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }>;
  /**
   * The file system of the agents' disks, in MiB. `free` is the space that a process without privileges may still write.
   * Cheap, and waits for no disk.
   */
  hostDisk(): Promise<{ readonly totalMib: number; readonly freeMib: number }>;
  /** Returns the disk use of every agent with data here, or only of VMs that can be paused, which waits for no busy disk. */
  diskUse(of: 'all' | 'running'): Promise<readonly DiskUse[]>;
}
