/** `lodge webhooks`: servers of yours that are told what happens. */
import type { Webhook } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { limitOption, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On, Run } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago, yesNo } from '../../terminal/words.ts';
import { given, integer, several } from '../../values.ts';
import { defineDeliveries } from '../../webhooks/deliveries.ts';
import { defineListen } from '../../webhooks/listen.ts';
import { webhookArgument, webhookFields, webhookOf } from '../../webhooks/shown.ts';

interface WebhookSettings {
  readonly address?: string;
  readonly event?: readonly string[];
  readonly description?: string;
  readonly enabled?: 'yes' | 'no';
}

const weekSeconds = 7 * 24 * 60 * 60;

export default function webhooks(command: Command, on: On): void {
  defineReads(command, on);
  defineWrites(command, on);
  defineEnds(command, on);
  defineDeliveries(command, on);
  defineListen(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .addOption(limitOption())
    .description('List the webhooks of the account.');
  examples(list, ['lodge webhooks list', 'show which servers are told what']).action(
    on(async (run, { limit }: ListOptions) => {
      const lodge = await run.lodge();
      await showList<Webhook>(
        run,
        lodge.webhooks.list(run.call),
        limit,
        [
          { title: 'id', value: ({ id }) => id, keep: true },
          { title: 'address', value: ({ url }) => url },
          { title: 'events', value: ({ events }) => events.join(' ') },
          { title: 'enabled', value: ({ enabled }) => yesNo(enabled) },
          { title: 'pending', value: ({ pending }) => pending, align: 'right' },
          { title: 'failing since', value: ({ failing_since }) => ago(failing_since) },
        ],
        'The account has no webhooks.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...webhookArgument)
    .description('Show one webhook.');
  examples(show, ['lodge webhooks show https://example.com/lodge', 'show how it is']).action(
    on(async (run, _options: object, meant: string) => {
      const found = await webhookOf(run, meant);
      run.out.result(found, () => webhookFields(run.out, found));
    }),
  );
}

const withSettings = (command: Command): Command =>
  command
    .option('--event <type>', 'a type such as agent.paused, a family such as agent.*, or *', several)
    .option('--description <text>', 'a label of your own')
    .addOption(new Option('--enabled <yes or no>', 'whether it is told anything').choices(['yes', 'no']));

const settingsOf = ({ address, event, description, enabled }: WebhookSettings) =>
  given({ url: address, events: event, description, enabled: enabled === undefined ? undefined : enabled === 'yes' });

function defineWrites(command: Command, on: On): void {
  const create = withSettings(
    command
      .command('create')
      .argument('<address>', 'where events are sent, by https')
      .description('Make a webhook. Its signing secret is shown once.'),
  );
  examples(create, ["lodge webhooks create https://example.com/lodge --event 'agent.*'", 'tell it of agents']).action(
    on(async (run, options: WebhookSettings, address: string) => {
      const body = { ...settingsOf(options), url: address, events: options.event ?? ['*'] };
      const lodge = await run.lodge();
      const made = await lodge.webhooks.create(body, run.call);
      showSecret(run, made);
    }),
  );
  const update = withSettings(
    command
      .command('update')
      .argument(...webhookArgument)
      .option('--address <url>', 'another address')
      .description('Change a webhook.'),
  );
  examples(update, ['lodge webhooks update 01J8Z6 --enabled no', 'tell it nothing']).action(
    on(async (run, options: WebhookSettings, meant: string) => {
      const body = settingsOf(options);
      if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.');
      const { id } = await webhookOf(run, meant);
      const lodge = await run.lodge();
      const changed = await lodge.webhooks.update(id, body, run.call);
      run.out.result(changed, () => webhookFields(run.out, changed));
    }),
  );
}

function defineEnds(command: Command, on: On): void {
  const rotate = command
    .command('rotate')
    .argument(...webhookArgument)
    .option('--overlap <seconds>', 'for how long the secret before signs too', integer(0, weekSeconds))
    .description('Make another signing secret. It is shown once.');
  examples(rotate, ['lodge webhooks rotate 01J8Z6', 'replace the secret']).action(
    on(async (run, { overlap }: { readonly overlap?: number }, meant: string) => {
      const { id } = await webhookOf(run, meant);
      const lodge = await run.lodge();
      showSecret(run, await lodge.webhooks.rotate(id, given({ overlap_seconds: overlap }), run.call));
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...webhookArgument)
    .description('Delete a webhook with its deliveries.');
  examples(remove, ['lodge webhooks delete 01J8Z6', 'delete it, after a question']).action(
    on(async (run, _options: object, meant: string) => {
      const found = await webhookOf(run, meant);
      if (!run.isYes) await confirm(run, `Delete the webhook to ${safeLine(found.url)}?`);
      const lodge = await run.lodge();
      const deleted = await lodge.webhooks.delete(found.id, run.call);
      run.out.result(deleted, () => `Deleted the webhook to ${safeLine(found.url)}.\n`);
    }),
  );
}

function showSecret(run: Run, made: Webhook & { readonly secret: string }): void {
  run.out.result(made, () =>
    run.out.fields([
      ['id', cell(made.id)],
      ['address', cell(made.url)],
      ['secret', cell(made.secret)],
    ]),
  );
  if (!run.out.isJson) run.out.note('The secret signs what is sent. It is not shown again.');
}
