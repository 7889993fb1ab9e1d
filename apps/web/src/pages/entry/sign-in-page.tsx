import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, hasCode } from '../../api.ts';
import type { SessionBody } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { PasswordField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { EntryCard } from '../../frame/entry-frame.tsx';
import { queries } from '../../queries.ts';
import { useEnter } from '../../session.ts';
import { CodeStep } from './code-step.tsx';

interface FirstFactor {
  readonly email: string;
  readonly password: string;
}

const route = getRouteApi('/entry/account/sign-in');

export function SignInPage() {
  const { to } = route.useSearch();
  const enter = useEnter();
  const [first, setFirst] = useState<FirstFactor>();
  if (first !== undefined) {
    return (
      <CodeStep
        send={(code) => api.signIn({ ...first, code })}
        done={(session) => enter(session, to)}
        back={() => setFirst(undefined)}
        backLabel="Sign in as someone else"
      />
    );
  }
  return <Password done={(session) => enter(session, to)} needsCode={setFirst} />;
}

type Done = (session: SessionBody) => Promise<void>;

const fields = checkAll({ email: checks.email, password: checks.password });

function Password({ done, needsCode }: { done: Done; needsCode: (first: FirstFactor) => void }) {
  const options = useQuery(queries.options);
  const [email, setEmail] = useState('');
  const form = useForm({
    check: fields,
    send: async (data) => {
      const first = { email: text(data, 'email').trim(), password: text(data, 'password') };
      try {
        return await api.signIn(first);
      } catch (error) {
        if (!hasCode(error, 'second_factor_required')) throw error;
        return first;
      }
    },
    done: (result) => ('session' in result ? done(result) : needsCode(result)),
  });
  return (
    <EntryCard
      title="Sign in"
      footer={
        <div className="flex flex-col gap-2">
          {options.data?.registration_open === true && (
            <p>
              New here?{' '}
              <Link to="/account/register" className="font-medium text-accent underline underline-offset-2">
                Create an account
              </Link>
            </p>
          )}
          <p className="text-balance">Forgot your password? Ask the operator of this Lodge for a reset link.</p>
        </div>
      }
    >
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} />
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          autoFocus
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={form.problems.email}
        />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          error={form.problems.password}
        />
        <Button type="submit" variant="primary" pending={form.pending} className="mt-2">
          Sign in
        </Button>
      </Form>
    </EntryCard>
  );
}
