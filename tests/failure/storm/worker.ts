/**
 * A process that does waiting work of one kind until it is killed. Its first message is its job; it answers as soon as it
 * works. It ends with the process that started it.
 */
import type { DeliveriesJob } from './deliveries.ts';
import type { ServerJob } from './server.ts';
import type { TurnsJob } from './turns.ts';

export type Job = DeliveriesJob | ServerJob | TurnsJob;

process.on('disconnect', () => process.exit(0));
process.once('message', (job: Job) => void work(job));

/** Each kind loads its own parts alone. */
async function work(job: Job): Promise<void> {
  switch (job.of) {
    case 'hooks':
    case 'schedules':
      await (await import('./turns.ts')).makeTurns(job);
      break;
    case 'webhooks':
      await (await import('./deliveries.ts')).deliver(job);
      break;
    case 'channels':
      return (await import('./server.ts')).serve(job, (report) => process.send?.(report, () => undefined));
  }
  process.send?.('ready', () => undefined);
}
