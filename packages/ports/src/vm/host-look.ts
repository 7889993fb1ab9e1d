/** One check of the machine and of the operator's settings, with its outcome. */
export interface HostFinding {
  readonly name: string;
  /** `fail`: Lodge does not work without it. `warn`: something is weak. `note`: there is something to know. */
  readonly state: 'ok' | 'note' | 'warn' | 'fail';
  readonly detail: string;
  readonly advice: string | null;
}

/** The outcome of all checks that the control plane can make. */
export interface HostFindings {
  readonly findings: readonly HostFinding[];
  /** Names of checks that only root can make. */
  readonly unseen: readonly string[];
}

/** The backups of this deployment, as far as the running service knows them. */
export interface BackupsNote {
  /** Where they are made by themselves; null when nobody set a place. */
  readonly place: string | null;
  /** Times of day at which they are made, in UTC, such as `03:30`. */
  readonly times: readonly string[];
  /** The last whole one; null when there is none, or its note may not be read here. */
  readonly last: { readonly at: Date; readonly place: string; readonly name: string } | null;
  /** False when there may be one whose note only root can read. */
  readonly isKnown: boolean;
}

/** Looks at the machine beneath Lodge. Reads only. */
export interface HostLook {
  /** Takes a process or two. */
  findings(): Promise<HostFindings>;
  backups(): Promise<BackupsNote>;
}
