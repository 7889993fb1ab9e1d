import { useState } from 'react';
import { api, hasCode } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { PasswordField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { useEnter } from '../../session.ts';
import { CodeStep } from './code-step.tsx';
import { LinkPage } from './link-page.tsx';
import { passwordHint } from './new-account-form.tsx';

interface Begun {
  readonly token: string;
  readonly password: string;
}

/** Sets a new password by the operator's link. An account with a second factor must give that, too. */
export function ResetPage() {
  const enter = useEnter();
  const [begun, setBegun] = useState<Begun>();
  if (begun !== undefined) {
    return (
      <CodeStep
        send={(code) => api.resetPassword({ ...begun, code })}
        done={(session) => enter(session)}
        back={() => setBegun(undefined)}
        backLabel="Choose another password"
      />
    );
  }
  return (
    <LinkPage kind="reset" title="Choose a new password" description="Signs you in here, and out everywhere else.">
      {(token, { email }) => <ResetForm token={token} email={email} needsCode={setBegun} />}
    </LinkPage>
  );
}

const check = checkAll({ password: checks.newPassword });

interface ResetProps {
  readonly token: string;
  readonly email: string | null;
  readonly needsCode: (begun: Begun) => void;
}

function ResetForm({ token, email, needsCode }: ResetProps) {
  const enter = useEnter();
  const form = useForm({
    check,
    send: async (data) => {
      const begun = { token, password: text(data, 'password') };
      try {
        return await api.resetPassword(begun);
      } catch (error) {
        if (!hasCode(error, 'second_factor_required')) throw error;
        return begun;
      }
    },
    done: (result) => ('session' in result ? enter(result) : needsCode(result)),
  });
  return (
    <Form form={form} className="flex flex-col gap-4">
      <Failure error={form.failure} />
      {email !== null && (
        <p className="text-muted">
          For <span className="font-medium break-all text-ink">{email}</span>
        </p>
      )}
      <input type="email" name="email" autoComplete="username" value={email ?? ''} readOnly hidden />
      <PasswordField
        label="New password"
        name="password"
        autoComplete="new-password"
        autoFocus
        hint={passwordHint}
        error={form.problems.password}
      />
      <Button type="submit" variant="primary" pending={form.pending} className="mt-2">
        Set password and sign in
      </Button>
    </Form>
  );
}
