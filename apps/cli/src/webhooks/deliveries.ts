/** `lodge webhooks deliveries`, `test` and `redeliver`. */
import type { WebhookDelivery } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { CommandError, exitCodes } from '../failure.ts';
import { limitOption, pageOf, showList } from '../gathered.ts';
import type { ListOptions } from '../gathered.ts';
import type { On, Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import { ago } from '../terminal/words.ts';
import { webhookArgument, webhookOf } from './shown.ts';

export function defineDeliveries(command: Command, on: On): void {
  const list = command
    .command('deliveries')
    .argument(...webhookArgument)
    .addOption(limitOption())
    .description('List what was sent to a webhook, newest first.');
  examples(list, ['lodge webhooks deliveries 01J8Z6', 'show what its server answered']).action(
    on(async (run, { limit }: ListOptions, meant: string) => {
      const { id } = await webhookOf(run, meant);
      const lodge = await run.lodge();
      await showList<WebhookDelivery>(
        run,
        lodge.webhooks.deliveries(id, { limit: pageOf(limit) }, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'event', value: ({ event_type }) => event_type },
          { title: 'state', value: ({ state }) => state },
          { title: 'answer', value: ({ response_status }) => response_status, align: 'right' },
          { title: 'attempts', value: ({ attempts }) => attempts, align: 'right' },
          { title: 'age', value: ({ created_at }) => ago(created_at), align: 'right' },
          { title: 'reason', value: ({ reason }) => reason },
        ],
        'Nothing was sent yet.',
      );
    }),
  );
  const test = command
    .command('test')
    .argument(...webhookArgument)
    .description('Send a test event, and show what the server answered.');
  examples(test, ['lodge webhooks test 01J8Z6', 'try the address']).action(
    on(async (run, _options: object, meant: string) => {
      const { id } = await webhookOf(run, meant);
      const lodge = await run.lodge();
      showDelivery(run, await withProgress(run.out, 'Sending', () => lodge.webhooks.test(id, {}, run.call)));
    }),
  );
  const again = command
    .command('redeliver')
    .argument(...webhookArgument)
    .argument('<delivery>', "the delivery's id")
    .description('Send a delivery again.');
  examples(again, ['lodge webhooks redeliver 01J8Z6 01J8ZA', 'send it again']).action(
    on(async (run, _options: object, meant: string, delivery: string) => {
      const { id } = await webhookOf(run, meant);
      const lodge = await run.lodge();
      showDelivery(
        run,
        await withProgress(run.out, 'Sending', () => lodge.webhooks.redeliver(id, delivery, {}, run.call)),
      );
    }),
  );
}

function showDelivery(run: Run, delivery: WebhookDelivery): void {
  const { state, response_status: status, reason, duration_ms: ms } = delivery;
  const answer = status === null ? '' : `, answered ${status}${ms === null ? '' : ` in ${ms} ms`}`;
  run.out.result(delivery, () => safeLine(`${state}${answer}`).concat('\n'));
  if (state === 'failed') throw new CommandError(exitCodes.failure, reason ?? 'It was not delivered.');
}
