/** How transitions are told to an agent's owner. */
import type { Operation, StatusReasonCode } from '@lodge/domain';
import type { Machine } from '../ports/index.ts';
import { StepFailed } from './pass.ts';

/** `7 ms`, `1.2 s`, `48 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/** Why an operation was begun, to follow a verb: `by request`. */
export function because(operation: Operation | null): string {
  switch (operation?.cause) {
    case undefined:
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
    case 'limit':
      return 'because its spend limit is reached';
  }
}

export function machineWords({ vcpus, memoryMib }: Pick<Machine, 'vcpus' | 'memoryMib'>): string {
  return `${vcpus} vCPU${vcpus === 1 ? '' : 's'} and ${Number((memoryMib / 1024).toFixed(1))} GB of memory`;
}

export interface Reason {
  readonly code: StatusReasonCode;
  readonly message: string;
}

/** The public reason of a start that failed; `fallback` where nothing more telling is known. */
export function reasonOf(failed: StepFailed, fallback: Reason): Reason {
  if (failed.isVm('no_capacity')) {
    return { code: 'insufficient_capacity', message: 'The host has no room for this VM.' };
  }
  if (failed.isVm('disk_full')) return { code: 'disk_full', message: 'There is no room left on the disk.' };
  if (fallback.code === 'resume_failed' || !failed.timedOut) return fallback;
  return { code: 'provisioning_timeout', message: 'The agent did not become ready in time.' };
}
