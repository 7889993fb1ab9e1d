/** Words that sentences of events share. */
import type { OperationCause } from '../agents/operation.ts';

/** Formats a duration, such as `7 ms`, `1.2 s`, `48 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/**
 * Returns the cause of an operation as words behind a verb, such as `by request`. Null means that there was no operation.
 */
export function because(cause: OperationCause | null): string {
  switch (cause) {
    case null:
      return 'by itself';
    case 'request':
      return 'by request';
    case 'idle':
      return 'because nobody used it';
    case 'memory':
      return 'because the host is short of memory';
    case 'message':
      return 'for a message';
    case 'health':
      return 'because its gateway did not answer';
    case 'plan':
      return 'by its plan';
    case 'limit':
      return 'because its spend limit is reached';
    case 'disk':
      return 'because the host is short of disk space, and it wrote more than others';
  }
}

/** A machine as events describe it. */
export type MachineData = {
  readonly vcpus: number;
  readonly memory_mib: number;
};

export function machineWords({ vcpus, memory_mib }: MachineData): string {
  return `${vcpus} vCPU${vcpus === 1 ? '' : 's'} and ${Number((memory_mib / 1024).toFixed(1))} GB of memory`;
}
