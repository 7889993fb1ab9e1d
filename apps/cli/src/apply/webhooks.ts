/** Webhooks of the account, which are known by their URLs. */
import type { CreateWebhook, Lodge, Webhook } from '@lodge/sdk';
import { asNew, differences } from './diff.ts';
import { inForm, urlForm } from './forms.ts';
import { isThere } from './section-table.ts';
import { makeOnce } from './step.ts';
import type { Acting, Step } from './step.ts';
import type { Values } from './file/wanted.ts';

/** Plans nothing where no file mentions webhooks. */
export async function planWebhooks(
  lodge: Lodge,
  wanted: readonly Values[] | undefined,
  isPruned: boolean,
  call: Acting['call'],
): Promise<Step[]> {
  if (wanted === undefined) return [];
  const { data } = await lodge.webhooks.list(call);
  const steps: Step[] = [];
  for (const values of wanted) {
    const found = data.find(({ url }) => urlForm(url) === urlForm(values['url']));
    const step = found === undefined ? makeStep(values) : changeStep(values, found);
    if (step !== undefined) steps.push(step);
  }
  const urls = new Set(wanted.map(({ url }) => urlForm(url)));
  if (isPruned) for (const webhook of data) if (!urls.has(urlForm(webhook.url))) steps.push(removeStep(webhook));
  return steps;
}

const noun = (url: unknown): string => `webhook ${String(url)}`;

const makeStep = (values: Values): Step => ({
  action: 'create',
  what: noun(values['url']),
  changes: asNew(without(values)),
  yieldsSecret: true,
  async do({ lodge, call, secretsOut }) {
    const { id, url, secret, created_at } = await makeOnce(
      {
        parts: ['webhook', values],
        make: (idempotencyKey) =>
          lodge.webhooks.create(values as unknown as CreateWebhook, { ...call, idempotencyKey }),
        isThere: (made) => isThere(() => lodge.webhooks.get(made.id, call)),
        // Nobody has seen the secret of a webhook whose reply was lost, so another takes its place.
        async again() {
          const { data } = await lodge.webhooks.list(call);
          for (const lost of data)
            if (urlForm(lost.url) === urlForm(values['url'])) await lodge.webhooks.delete(lost.id, call);
          return null;
        },
      },
      call.signal,
    );
    await secretsOut?.add({ kind: 'webhook', id, url, secret, created_at });
  },
});

function changeStep(values: Values, { id, events, description, enabled }: Webhook): Step | undefined {
  const changes = differences(without(values), { events, description, enabled });
  if (changes.length === 0) return undefined;
  const fields = new Set(changes.map(({ field }) => field));
  const body = Object.fromEntries(Object.entries(values).filter(([field]) => fields.has(field)));
  return {
    action: 'update',
    what: noun(values['url']),
    changes,
    async do({ lodge, call }) {
      await lodge.webhooks.update(id, body, call);
    },
  };
}

const removeStep = ({ id, url }: Webhook): Step => ({
  action: 'delete',
  what: noun(url),
  changes: [],
  async do({ lodge, call }) {
    await lodge.webhooks.delete(id, call);
  },
});

const without = (values: Values): Values => {
  const { url: _, ...rest } = inForm(values, {});
  return rest;
};
