import { useState } from 'react';
import type { SessionBody } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { EntryCard } from '../../frame/entry-frame.tsx';

interface CodeStepProps {
  readonly send: (code: string) => Promise<SessionBody>;
  readonly done: (session: SessionBody) => Promise<void>;
  readonly back: () => void;
  readonly backLabel: string;
}

const check = checkAll({ code: checks.code });

/** The step after the password: a code of the authenticator app, or a recovery code. */
export function CodeStep({ send, done, back, backLabel }: CodeStepProps) {
  const [recovery, setRecovery] = useState(false);
  const form = useForm({ check, send: (data) => send(text(data, 'code').trim()), done });
  return (
    <EntryCard
      title="Second step"
      description={
        recovery
          ? 'Enter one of the recovery codes you kept. Each works once.'
          : 'Enter the six-digit code that your authenticator app shows now.'
      }
    >
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} />
        <CodeField key={String(recovery)} recovery={recovery} error={form.problems.code} />
        <Button type="submit" variant="primary" pending={form.pending} className="mt-2">
          Continue
        </Button>
        <div className="flex flex-col gap-1">
          <Button variant="ghost" onClick={() => setRecovery(!recovery)}>
            {recovery ? 'Use the authenticator app' : 'Use a recovery code'}
          </Button>
          <Button variant="ghost" onClick={back}>
            {backLabel}
          </Button>
        </div>
      </Form>
    </EntryCard>
  );
}

function CodeField({ recovery, error }: { recovery: boolean; error: string | undefined }) {
  return (
    <TextField
      label={recovery ? 'Recovery code' : 'Code'}
      name="code"
      autoFocus
      autoComplete={recovery ? 'off' : 'one-time-code'}
      inputMode={recovery ? 'text' : 'numeric'}
      maxLength={recovery ? 64 : 8}
      spellCheck={false}
      autoCapitalize="none"
      error={error}
      className="font-mono tracking-wider"
    />
  );
}
