import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from '@lodge/sdk';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { keepTyped, typedAt } from '../../components/form/typed.ts';
import { toast } from '../../components/toasts/toasts.tsx';
import { explain } from '../../messages.ts';
import { webhooksQuery } from './queries.ts';
import { RotateDialog } from './rotate-dialog.tsx';
import { EditWebhookDialog, webhookDraft } from './webhook-dialog.tsx';

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id, enabled } = webhook;
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete' | undefined>(() =>
    typedAt(webhookDraft(id)) === null ? undefined : 'edit',
  );
  const refresh = useRefresh();
  const navigate = useNavigate();
  const test = useTest(id, refresh);
  const toggle = useToggle(webhook, refresh);
  const close = (): void => {
    if (open === 'edit') keepTyped(webhookDraft(id), null);
    setOpen(undefined);
  };
  return (
    <div className="flex flex-wrap gap-2">
      {enabled && (
        <Button pending={test.isPending} onClick={() => test.mutate()}>
          <Send aria-hidden className="size-4" />
          Send test
        </Button>
      )}
      <Button pending={toggle.isPending} onClick={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Button onClick={() => setOpen('edit')}>Edit</Button>
      <Button onClick={() => setOpen('rotate')}>New secret</Button>
      <Button variant="ghost-danger" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && <EditWebhookDialog webhook={webhook} onClose={close} />}
      {open === 'rotate' && <RotateDialog id={id} onClose={close} />}
      {open === 'delete' && (
        <ConfirmDialog
          title="Delete this webhook?"
          action="Delete webhook"
          run={() => change(() => lodge.webhooks.delete(id))}
          onDone={() => {
            toast('The webhook is deleted.');
            void navigate({ to: '/account/webhooks' }).then(refresh);
          }}
          onClose={close}
        >
          Your server is told nothing more, and the list of its deliveries is gone.
        </ConfirmDialog>
      )}
    </div>
  );
}

function useRefresh(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
}

function useTest(id: string, refresh: () => Promise<void>) {
  return useMutation({
    mutationFn: () => change(() => lodge.webhooks.test(id)),
    onSuccess: (delivery) => {
      toast(
        delivery.state === 'delivered'
          ? `Your server took the test with ${delivery.response_status ?? 'success'}.`
          : `The test did not arrive: ${delivery.reason ?? 'it is still on its way'}`,
      );
      return refresh();
    },
    onError: (error) => toast(`No test was sent: ${explain(error)}`),
  });
}

function useToggle({ id, enabled }: Webhook, refresh: () => Promise<void>) {
  return useMutation({
    mutationFn: () => change(() => lodge.webhooks.update(id, { enabled: !enabled })),
    onSuccess: () => {
      toast(enabled ? 'The webhook is told nothing more.' : 'The webhook is told of events from now on.');
      return refresh();
    },
    onError: (error) => toast(explain(error)),
  });
}
