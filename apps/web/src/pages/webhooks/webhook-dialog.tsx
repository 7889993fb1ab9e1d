import { useQueryClient } from '@tanstack/react-query';
import type { Webhook } from '@lodge/sdk';
import { useState } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { changedParts } from '../../components/form/changed.ts';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { EventsField, eventsOf } from './events-field.tsx';
import { SecretShown } from './secret-shown.tsx';
import { webhooksQuery } from './queries.ts';

function check(data: FormData) {
  const problems: { url?: string; events?: string } = {};
  if (!/^https?:\/\/./.test(text(data, 'url').trim())) problems.url = 'Enter an address that begins with https://.';
  if (eventsOf(data).length === 0) problems.events = 'Choose at least one type of event.';
  return problems;
}

/** The name under which the text of the dialog is kept; without an id of the one for a new webhook. */
export const webhookDraft = (id = ''): string => `webhook:${id}`;

const bodyOf = (data: FormData) => ({
  url: text(data, 'url').trim(),
  description: text(data, 'description').trim(),
  events: eventsOf(data),
});

/** Makes a webhook. Its secret is shown once, at the end. */
export function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const queryClient = useQueryClient();
  if (secret !== undefined) {
    return <SecretShown secret={secret} onClose={onClose} />;
  }
  return (
    <Dialog
      title="Create webhook"
      description="Lodge sends each event to your server as it happens, signed with a secret."
      onClose={onClose}
      step="form"
    >
      <WebhookForm
        action="Create webhook"
        send={(data) => change(() => lodge.webhooks.create(bodyOf(data)))}
        onDone={({ secret: made }) => {
          setSecret(made);
          void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const queryClient = useQueryClient();
  return (
    <Dialog title="Edit webhook" onClose={onClose}>
      <WebhookForm
        webhook={webhook}
        action="Save"
        send={(data, before) =>
          change(() => lodge.webhooks.update(webhook.id, changedParts(bodyOf(before), bodyOf(data))))
        }
        onDone={() => {
          onClose();
          toast('The webhook is changed.');
          void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface WebhookFormProps<Result> {
  readonly webhook?: Webhook;
  readonly action: string;
  readonly send: (data: FormData, before: FormData) => Promise<Result>;
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

function WebhookForm<Result>({ webhook, action, send, onDone, onClose }: WebhookFormProps<Result>) {
  const form = useForm({ keep: webhookDraft(webhook?.id), check, send, done: onDone });
  return (
    <Form form={form} className="flex flex-col gap-5">
      <Failure error={form.failure} />
      <TextField
        label="URL"
        name="url"
        type="url"
        inputMode="url"
        maxLength={2000}
        autoComplete="off"
        data-autofocus=""
        placeholder="https://example.com/hooks/lodge"
        defaultValue={webhook?.url}
        error={form.problems.url}
      />
      <TextField
        label="Description"
        optional
        name="description"
        maxLength={500}
        autoComplete="off"
        defaultValue={webhook?.description}
      />
      <EventsField initial={webhook?.events ?? ['agent.*']} error={form.problems.events} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.pending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
