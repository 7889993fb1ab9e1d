/** `lodge audit`: who changed what. */
import type { AuditEvent } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { limitOption, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';

export default function audit(command: Command, on: On): void {
  command.addOption(limitOption());
  examples(
    command,
    ['lodge audit', 'show the newest changes'],
    ['lodge audit --limit 1000 --json', 'print more'],
  ).action(
    on(async (run, { limit }: ListOptions) => {
      const lodge = await run.lodge();
      await showList<AuditEvent>(
        run,
        lodge.auditEvents.list({ limit: pageOf(limit) }, run.call),
        limit,
        [
          { title: 'time', value: ({ created_at }) => created_at, keep: true },
          { title: 'action', value: ({ action }) => action },
          { title: 'what', value: ({ target }) => target && `${target.type} ${target.id}` },
          { title: 'who', value: ({ actor }) => (actor.id === null ? actor.type : `${actor.type} ${actor.id}`) },
          { title: 'from', value: ({ address }) => address },
        ],
        'Nothing was changed yet.',
      );
    }),
  );
}
