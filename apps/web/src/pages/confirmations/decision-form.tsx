import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Confirmation, DecideConfirmation } from '@lodge/sdk';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { DialogActions } from '../../components/dialogs/dialog.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { TextAreaField } from '../../components/form/text-area-field.tsx';
import { Failure } from '../../components/notice.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { visibleName } from '../../components/words/visible-text.ts';
import { confirmationQuery } from './queries.ts';

interface DecisionProps {
  readonly confirmation: Confirmation;
  readonly onClose: () => void;
}

const maxWords = 1_000;

export function DecisionForm(props: DecisionProps) {
  return props.confirmation.kind === 'question' ? <AnswerForm {...props} /> : <CallForm {...props} />;
}

function useDecide({ confirmation: { id }, onClose }: DecisionProps) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: DecideConfirmation) => change(() => lodge.confirmations.decide(id, body)),
    onSuccess: (decided) => {
      client.setQueryData(confirmationQuery(id).queryKey, decided);
      toast(saidOf(decided));
      onClose();
    },
    // Somebody else may have decided.
    onSettled: () => client.invalidateQueries({ queryKey: ['confirmations'] }),
  });
}

function saidOf({ kind, decision }: Confirmation): string {
  if (kind === 'question') return decision === 'allow' ? 'The agent gets your answer.' : 'The agent gets no answer.';
  return decision === 'allow' ? 'Allowed.' : 'Denied.';
}

function CallForm(props: DecisionProps) {
  const { conversation } = props.confirmation;
  const [reason, setReason] = useState('');
  const [remember, setRemember] = useState<Confirmation['remember']>('none');
  const decide = useDecide(props);
  const send = (decision: 'allow' | 'deny'): void => {
    const words = reason.trim();
    decide.mutate({ decision, remember, ...(words !== '' && { reason: words }) });
  };
  const isSending = (decision: 'allow' | 'deny'): boolean => decide.isPending && decide.variables.decision === decision;
  return (
    <div className="flex flex-col gap-4">
      <TextField
        label="Reason"
        optional
        maxLength={maxWords}
        autoComplete="off"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        hint="The agent reads it."
      />
      <SelectField
        label="Remember"
        value={remember}
        onChange={(event) => setRemember(event.target.value as Confirmation['remember'])}
        hint="The same is the same method and path, tool or command, whatever else the call has."
      >
        <option value="none">Only this call</option>
        {conversation !== null && <option value="conversation">The same in this conversation</option>}
        <option value="rule">The same from now on, as a rule</option>
      </SelectField>
      <Failure error={decide.error} />
      <DialogActions>
        <Button variant="danger" pending={isSending('deny')} disabled={decide.isPending} onClick={() => send('deny')}>
          Deny
        </Button>
        <Button
          variant="primary"
          pending={isSending('allow')}
          disabled={decide.isPending}
          onClick={() => send('allow')}
        >
          Allow
        </Button>
      </DialogActions>
    </div>
  );
}

function AnswerForm(props: DecisionProps) {
  const { options } = props.confirmation;
  const [answer, setAnswer] = useState('');
  const decide = useDecide(props);
  const words = answer.trim();
  return (
    <div className="flex flex-col gap-4">
      {options.length > 0 && (
        <div role="group" aria-label="Options" className="flex flex-col gap-2">
          {options.map((option) => (
            <Button
              key={option}
              disabled={decide.isPending}
              onClick={() => decide.mutate({ decision: 'allow', answer: option })}
              className="h-auto! min-h-9 justify-start! py-1.5 text-left whitespace-normal! wrap-anywhere"
            >
              <bdi>{visibleName(option)}</bdi>
            </Button>
          ))}
        </div>
      )}
      <TextAreaField
        label={options.length > 0 ? 'Or in your words' : 'Your answer'}
        rows={2}
        maxLength={maxWords}
        value={answer}
        onChange={(event) => setAnswer(event.target.value)}
      />
      <Failure error={decide.error} />
      <DialogActions>
        <Button disabled={decide.isPending} onClick={() => decide.mutate({ decision: 'deny' })}>
          Do not answer
        </Button>
        <Button
          variant="primary"
          pending={decide.isPending}
          disabled={words === ''}
          className="disabled:opacity-60"
          onClick={() => decide.mutate({ decision: 'allow', answer: words })}
        >
          Answer
        </Button>
      </DialogActions>
    </div>
  );
}
