import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import type { CreateAgent, Provider } from '@lodge/sdk';
import { ApiError, change, hasCode, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { useKept } from '../../components/form/use-kept.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { putAgentRow } from '../agents/queries.ts';
import { CodeAside } from './code-aside.tsx';
import { secretOf } from './code-samples.ts';
import { bodyOf, draftOf, problemsOf, refusedField, withProvider } from './draft.ts';
import type { Draft, FieldName, Problems } from './draft.ts';
import { InstructionsSection, LabelsSection, LimitSection, NameSection } from './fields.tsx';
import { ModelSection } from './model-section.tsx';
import { limitsQuery } from '../limits/queries.ts';
import { providersQuery } from './queries.ts';
import { RuntimeSection } from './runtime-section.tsx';
import type { SectionProps } from './section-props.ts';
import { SizeSection } from './size-section.tsx';

/** Words for refusals that the server explains better than the page could. */
const inItsWords = new Set(['insufficient_capacity', 'provisioning_failed', 'quota_exceeded']);
const wordsOf = (error: unknown): Record<string, string> =>
  error instanceof ApiError && inItsWords.has(error.code) ? { [error.code]: error.message } : {};

export function CreateForm() {
  const { id: accountId } = useAccount();
  const kept = useKept(`lodge:new-agent:${accountId}`, draftOf);
  const [key, setKey] = useState('');
  const providers = useQuery(providersQuery);
  const draft = useMemo(() => withProvider(kept.value, providers.data ?? []), [kept.value, providers.data]);
  const provider = providers.data?.find(({ id }) => id === draft.provider);
  const form = useCreate(kept.drop);
  const set = (part: Partial<Draft>): void => {
    kept.set({ ...draft, ...part });
    form.clear(Object.keys(part) as FieldName[]);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    form.submit(problemsOf(draft, provider, key), bodyOf(draft, provider, key));
  };
  const options = useQuery(queries.options);
  const sample = useMemo(() => sampleOf(draft, provider, key), [draft, provider, key]);
  const section: SectionProps = { draft, set, problems: form.problems };
  return (
    <div className="grid items-start gap-x-8 gap-y-10 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[minmax(0,1fr)_25rem]">
      <form ref={form.ref} noValidate onSubmit={submit} aria-label="New agent" className="flex min-w-0 flex-col gap-6">
        <NameSection {...section} />
        <RuntimeSection {...section} />
        <ModelSection
          {...section}
          providers={providers}
          apiKey={key}
          isBack={kept.wasKept}
          setKey={(value) => {
            setKey(value);
            form.clear(['key']);
          }}
        />
        <SizeSection {...section} />
        <InstructionsSection {...section} />
        <LimitSection {...section} />
        <LabelsSection {...section} />
        <Failure error={form.failure} here={wordsOf(form.failure)} />
        <div className="flex flex-wrap items-center gap-4">
          <Button type="submit" variant="primary" pending={form.isPending}>
            {form.isPending ? 'Creating…' : 'Create agent'}
          </Button>
          {form.isPending && provider?.key_check === true && (
            <span role="status" className="text-muted">
              {provider.name} is asked whether it accepts the key.
            </span>
          )}
        </div>
      </form>
      <CodeAside body={sample} baseUrl={options.data?.api_base_url ?? `${window.location.origin}/v1`} />
    </div>
  );
}

/** The request as it is shown beside the form, without the key. */
function sampleOf(draft: Draft, provider: Provider | undefined, key: string): CreateAgent {
  const hasKey = provider !== undefined && (provider.needs_key || key !== '');
  const body = bodyOf(draft, provider, hasKey ? secretOf(provider.id) : '');
  return { ...body, name: body.name === '' ? 'My agent' : body.name };
}

/** Sends the request once, also when the reply was lost and it is sent again. */
function useCreate(made: () => void) {
  const ref = useRef<HTMLFormElement>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [problems, setProblems] = useState<Problems>({});
  const [refusals, setRefusals] = useState(0);
  const [failure, setFailure] = useState<unknown>();
  const refuse = (found: Problems): void => {
    setProblems(found);
    setRefusals((count) => count + 1);
  };
  const attempt = useRef({ body: '', key: '' });
  const mutation = useMutation({
    mutationFn: (body: CreateAgent) => {
      const text = JSON.stringify(body);
      if (attempt.current.body !== text) attempt.current = { body: text, key: crypto.randomUUID() };
      return change(() => lodge.agents.create(body, { wait: false, idempotencyKey: attempt.current.key }));
    },
    onSuccess: async (agent) => {
      putAgentRow(client, agent.id, agent);
      void client.invalidateQueries({ queryKey: ['agents'] });
      void client.invalidateQueries(limitsQuery);
      made();
      await navigate({ to: '/agents/new', search: { made: agent.id }, replace: true });
    },
    onError: (error) => {
      const refused = hasCode(error, 'invalid_request') ? refusedField(error.message) : null;
      if (refused === null) setFailure(error);
      else refuse({ [refused[0]]: refused[1] });
    },
  });
  // The first wrong field is shown and has the focus, once for each try.
  useEffect(() => {
    if (refusals > 0) ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  return {
    ref,
    problems,
    failure,
    isPending: mutation.isPending,
    clear: (names: readonly FieldName[]): void => {
      if (names.some((name) => name in problems))
        setProblems(
          Object.fromEntries(Object.entries(problems).filter(([name]) => !names.includes(name as FieldName))),
        );
    },
    submit: (found: Problems, body: CreateAgent): void => {
      if (mutation.isPending) return;
      setFailure(undefined);
      if (Object.keys(found).length > 0) return refuse(found);
      setProblems({});
      mutation.mutate(body);
    },
  };
}
