/** An agent's status in words and colour, with the change that is under way. */
import type { Agent } from '@lodge/sdk';
import type { Tone } from '../../components/badge.tsx';

interface StatusWords {
  readonly label: string;
  readonly tone: Tone;
  /** A change is under way. */
  readonly moving: boolean;
}

const still: Readonly<Record<Agent['status'], StatusWords>> = {
  provisioning: { label: 'Being made', tone: 'warning', moving: true },
  running: { label: 'Running', tone: 'good', moving: false },
  paused: { label: 'Asleep', tone: 'quiet', moving: false },
  stopped: { label: 'Stopped', tone: 'quiet', moving: false },
  error: { label: 'Error', tone: 'bad', moving: false },
};

const moving: Readonly<Record<NonNullable<Agent['transition']>['kind'], string>> = {
  start: 'Starting',
  resume: 'Waking',
  pause: 'Going to sleep',
  stop: 'Stopping',
  restart: 'Restarting',
  upgrade: 'Upgrading',
};

export function statusOf({ status, transition }: Pick<Agent, 'status' | 'transition'>): StatusWords {
  if (transition === null) return still[status];
  return { label: moving[transition.kind], tone: 'warning', moving: true };
}
