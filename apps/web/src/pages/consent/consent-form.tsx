import type { Scope } from '@lodge/contract';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure, Notice } from '../../components/notice.tsx';
import { ScopesField, scopesOf } from '../../components/form/scopes-field.tsx';
import { useForm } from '../../components/form/use-form.ts';

type Decision = { readonly approve: true; readonly scopes: readonly Scope[] } | { readonly approve: false };

interface ConsentFormProps<Answer> {
  /** Facts that the person must know before they agree. */
  readonly warning: string;
  readonly legend: string;
  /** Those that are asked for and that the person may give. */
  readonly scopes: readonly Scope[];
  /** The words of the button that agrees. */
  readonly agree: string;
  readonly send: (decision: Decision) => Promise<Answer>;
  readonly done: (answer: Answer, isApproved: boolean) => void;
  /** The client that asks. */
  readonly children: ReactNode;
}

/** Where a person gives a stranger scopes, or denies. Without a scope they can only deny. */
export function ConsentForm<Answer>({ scopes, send, done, ...props }: ConsentFormProps<Answer>) {
  const form = useForm({
    check: (data): { scopes?: string } =>
      scopesOf(data).length === 0 ? { scopes: 'Choose at least one scope, or deny.' } : {},
    send: (data) => send({ approve: true, scopes: scopesOf(data) }),
    done: (answer) => done(answer, true),
  });
  const deny = useMutation({
    mutationFn: () => send({ approve: false }),
    onSuccess: (answer) => done(answer, false),
  });
  return (
    <Form form={form} className="flex flex-col gap-5 p-5 sm:px-6">
      {props.children}
      <Notice kind="warning">{props.warning}</Notice>
      {scopes.length === 0 ? (
        <Notice kind="info">It asks for nothing that your role may give.</Notice>
      ) : (
        <ScopesField legend={props.legend} offered={scopes} all error={form.problems.scopes} />
      )}
      <Failure error={form.failure ?? deny.error} />
      <div className="flex flex-wrap gap-3">
        {scopes.length > 0 && (
          <Button type="submit" variant="primary" pending={form.pending}>
            {props.agree}
          </Button>
        )}
        <Button pending={deny.isPending} onClick={() => deny.mutate()}>
          Deny
        </Button>
      </div>
    </Form>
  );
}
