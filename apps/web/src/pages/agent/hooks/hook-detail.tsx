import type { Hook } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import { Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { deliverWords } from '../answers/deliver.ts';
import { MessageList } from './message-list.tsx';
import { hookChanges, signatureTitles } from './queries.ts';

interface DetailProps {
  readonly hook: Hook;
  readonly mayChange: boolean;
  readonly onDeleted: () => void;
}

export function HookDetail({ hook, mayChange, onDeleted }: DetailProps) {
  const { agent_id: agentId, id, template, signature } = hook;
  const queryClient = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Section
        title="Hook"
        actions={
          mayChange && (
            <Button small variant="ghost-danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          )
        }
      >
        <div className="flex flex-col gap-5 px-5 py-5 sm:px-6">
          <FactList
            facts={[
              ['Token', `…${hook.last4}`],
              ['Signature', signature === undefined ? 'None: whoever has the address is believed' : signed(signature)],
              ['Answer', deliverWords(hook.deliver, 'A line of it is in the agent’s log')],
              ['Conversation', hook.conversation ?? 'One of its own'],
              ['Made', <Time value={hook.created_at} />],
            ]}
          />
          <div className="flex flex-col gap-1.5">
            <h3 className="font-medium">What the agent is told</h3>
            {template === undefined ? (
              <p className="text-muted">The whole JSON of the request.</p>
            ) : (
              <p
                tabIndex={0}
                className="max-h-72 overflow-y-auto rounded-control bg-sunken px-3.5 py-2.5 font-mono text-[0.8125rem] whitespace-pre-wrap wrap-anywhere"
              >
                {template}
              </p>
            )}
          </div>
        </div>
      </Section>
      <MessageList agentId={agentId} hook={id} />
      {deleting && (
        <ConfirmDialog
          title="Delete this hook?"
          action="Delete hook"
          run={() => hookChanges(agentId).remove(id)}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast('The hook is deleted.');
            void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'hooks'] });
            onDeleted();
          }}
        >
          Its address takes nothing any more, and messages that wait are dropped.
        </ConfirmDialog>
      )}
    </>
  );
}

const signed = ({ type, header, secret }: NonNullable<Hook['signature']>): string =>
  `${signatureTitles[type]}${header === undefined ? '' : ` (${header})`}, secret …${secret.last4}`;
