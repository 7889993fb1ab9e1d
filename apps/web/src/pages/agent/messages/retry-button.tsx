import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ChannelMessage } from '@lodge/sdk';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';

const here = { message_not_retryable: 'Its state has changed meanwhile: there is nothing to try again.' };

/** Has a message answered again. Where an answer may have arrived, a person says so first: it could arrive twice. */
export function RetryButton({ message: { agent_id: agentId, id, state } }: { message: ChannelMessage }) {
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const retry = useMutation({
    mutationFn: () => change(() => lodge.messages.retry(agentId, id, {})),
    onSuccess: () => toast('The message is taken up again.'),
    onSettled: () => {
      setAsking(false);
      return queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'messages'] });
    },
  });
  return (
    <>
      <Button
        small
        pending={retry.isPending}
        onClick={() => {
          if (state === 'unknown') setAsking(true);
          else retry.mutate();
        }}
      >
        <RotateCw aria-hidden className="size-3.5" />
        Try again
      </Button>
      <Failure error={retry.error} here={here} />
      {asking && (
        <Dialog title="Send what is left of the answer again?" onClose={() => setAsking(false)}>
          <p className="text-muted">
            A part of the answer was sent, and nobody can tell whether it arrived. It may arrive twice.
          </p>
          <DialogActions>
            <Button data-autofocus onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button variant="primary" pending={retry.isPending} onClick={() => retry.mutate()}>
              Send again
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}
