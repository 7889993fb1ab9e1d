/** `lodge audit`: who changed what. */
import type { AuditEvent } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { examples } from '../../examples.ts';
import { limitOption, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';

const actors = ['account', 'api_key', 'operator'] as const;

interface AuditOptions extends ListOptions {
  readonly action?: string;
  readonly actor?: (typeof actors)[number];
  readonly of?: string;
}

export default function audit(command: Command, on: On): void {
  command
    .option('--action <type>', 'only this action, or a family such as api_key.*')
    .addOption(new Option('--actor <kind>', 'only what such actors did').choices(actors))
    .option('--of <id>', 'only what was done to this object, such as an agent by its id')
    .addOption(limitOption());
  examples(
    command,
    ['lodge audit', 'show the newest changes'],
    ['lodge audit --actor operator', 'show what was done at the command line of the server'],
    ['lodge audit --limit 1000 --json', 'print more'],
  ).action(
    on(async (run, { limit, action, actor, of }: AuditOptions) => {
      const filters = {
        ...(action !== undefined && { action }),
        ...(actor !== undefined && { actor_type: actor }),
        ...(of !== undefined && { target_id: of }),
      };
      const lodge = await run.lodge();
      await showList<AuditEvent>(
        run,
        lodge.auditEvents.list({ limit: pageOf(limit), ...filters }, run.call),
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
