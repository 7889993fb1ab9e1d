/** The verbs that an agent's machine takes now; the server decides again. */
import type { Agent } from '@lodge/sdk';

export type Verb = 'start' | 'resume' | 'pause' | 'stop' | 'restart';

interface VerbWords {
  readonly label: string;
  /** Said when it is done. */
  readonly done: string;
  readonly hint: string;
}

export const verbWords: Readonly<Record<Verb, VerbWords>> = {
  start: { label: 'Start', done: 'runs', hint: 'Its memory is as it was when it stopped.' },
  resume: { label: 'Wake', done: 'is awake', hint: 'It goes on where it was, in a moment.' },
  pause: { label: 'Sleep', done: 'sleeps', hint: 'Its memory stays on this host. A message wakes it.' },
  stop: { label: 'Stop', done: 'has stopped', hint: 'Its memory is saved to disk, and the host’s is free.' },
  restart: { label: 'Restart', done: 'has restarted', hint: 'The machine boots anew from its disk.' },
};

const offered: Readonly<Record<Agent['status'], readonly Verb[]>> = {
  provisioning: [],
  running: ['pause', 'stop', 'restart'],
  paused: ['resume', 'stop', 'restart'],
  stopped: ['start'],
  error: ['start', 'restart', 'stop'],
};

export const verbsOf = ({ status, transition }: Pick<Agent, 'status' | 'transition'>): readonly Verb[] =>
  transition === null ? offered[status] : [];
