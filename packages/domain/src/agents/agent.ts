/** Shape of an agent id: DNS-label safe. */
export const agentIdPattern = /^[a-z][a-z0-9]{11}$/;

const letters = 'abcdefghijklmnopqrstuvwxyz';
const alphanumerics = `${letters}0123456789`;

/** Makes an agent id from `random`, which returns unguessable integers in [0, below). */
export function makeAgentId(random: (below: number) => number): string {
  let id = letters[random(letters.length)]!;
  while (id.length < 12) id += alphanumerics[random(alphanumerics.length)];
  return id;
}

/** Statuses of an agent. The set is closed within v1 of the API. */
export const agentStatuses = ['provisioning', 'running', 'paused', 'stopped', 'error'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export const statusReasonCodes = [
  'waiting_for_template',
  'snapshot_failed',
  'upgrade_failed',
  'restore_failed',
  'provisioning_timeout',
  'provisioning_failed',
  'insufficient_capacity',
  'gateway_unhealthy',
  'config_invalid',
  'vm_crashed',
  'out_of_memory',
  'disk_full',
  'host_disk_full',
  'resume_failed',
] as const;
export type StatusReasonCode = (typeof statusReasonCodes)[number];

/** The reason for an agent's status. `message` is public. */
export interface StatusReason {
  readonly code: StatusReasonCode;
  readonly message: string;
  readonly at: Date;
}

/** Users as whom commands and terminals in an agent's machine can run. */
export const machineUsers = ['agent', 'root'] as const;
export type MachineUser = (typeof machineUsers)[number];

export const keepAwakeModes = ['auto', 'always'] as const;
export type KeepAwakeMode = (typeof keepAwakeModes)[number];

export interface Lifecycle {
  readonly idleTimeoutSeconds: number;
  readonly stopAfterSeconds: number;
  readonly keepAwake: KeepAwakeMode;
  readonly autoResume: boolean;
  readonly autoStart: boolean;
  readonly wakeOnMessage: boolean;
}

export const defaultLifecycle: Lifecycle = {
  idleTimeoutSeconds: 45,
  stopAfterSeconds: 1800,
  keepAwake: 'auto',
  autoResume: true,
  autoStart: false,
  wakeOnMessage: true,
};
