import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { FormEvent } from 'react';
import type { Provider } from '@lodge/sdk';
import { ApiError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { useKept } from '../../components/form/use-kept.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { ChannelsSection } from './channels-section.tsx';
import { CodeAside } from './code-aside.tsx';
import { secretOf, tokenSecrets } from './code-samples.ts';
import { bodyOf, draftOf, problemsOf, withProvider } from './draft.ts';
import type { Draft, FieldName, SectionProps } from './draft.ts';
import { InstructionsSection, LabelsSection, LimitSection, NameSection } from './fields.tsx';
import { ModelSection } from './model-section.tsx';
import { providersQuery } from './queries.ts';
import { RuntimeSection } from './runtime-section.tsx';
import { toPair } from './tokens.ts';
import type { Tokens } from './tokens.ts';
import { useCreate } from './use-create.ts';
import { SizeSection } from './size-section.tsx';

/** Words for refusals that the server explains better than the page could. */
const inItsWords = new Set(['insufficient_capacity', 'provisioning_failed', 'quota_exceeded']);
const wordsOf = (error: unknown): Record<string, string> =>
  error instanceof ApiError && inItsWords.has(error.code) ? { [error.code]: error.message } : {};

export function CreateForm() {
  const { id: accountId } = useAccount();
  const kept = useKept(`lodge:new-agent:${accountId}`, draftOf);
  const [key, setKey] = useState('');
  const [tokens, setTokens] = useState<Tokens>({});
  const providers = useQuery(providersQuery);
  const draft = useMemo(() => withProvider(kept.value, providers.data ?? []), [kept.value, providers.data]);
  const provider = providers.data?.find(({ id }) => id === draft.provider);
  const form = useCreate(kept.drop, toPair(draft.channels));
  const set = (part: Partial<Draft>): void => {
    kept.set({ ...draft, ...part });
    form.clear(Object.keys(part) as FieldName[]);
  };
  const all = [draft, provider, key, tokens] as const;
  const changeKey = (value: string): void => {
    setKey(value);
    form.clear(['key']);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    form.submit(problemsOf(...all), bodyOf(...all));
  };
  const sample = useSample(draft, provider, key !== '');
  const section: SectionProps = { draft, set, problems: form.problems };
  return (
    <div className="grid items-start gap-x-8 gap-y-10 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[minmax(0,1fr)_25rem]">
      <form ref={form.ref} noValidate onSubmit={submit} aria-label="New agent" className="flex min-w-0 flex-col gap-6">
        <NameSection {...section} />
        <RuntimeSection {...section} />
        <ModelSection {...section} providers={providers} apiKey={key} isBack={kept.wasKept} setKey={changeKey} />
        <SizeSection {...section} />
        <InstructionsSection {...section} />
        <ChannelsSection
          {...section}
          tokens={tokens}
          isBack={kept.wasKept}
          setToken={(name, value) => {
            setTokens({ ...tokens, [name]: value });
            form.clear([name]);
          }}
        />
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
      <CodeAside {...sample} />
    </div>
  );
}

/** The request as other programs send it, with placeholders for the secrets, and the address it goes to. */
function useSample(draft: Draft, provider: Provider | undefined, hasKey: boolean) {
  const options = useQuery(queries.options);
  const body = useMemo(() => {
    const key = provider !== undefined && (provider.needs_key || hasKey) ? secretOf(provider.id) : '';
    const made = bodyOf(draft, provider, key, tokenSecrets(draft.channels));
    return { ...made, name: made.name === '' ? 'My agent' : made.name };
  }, [draft, provider, hasKey]);
  return { body, baseUrl: options.data?.api_base_url ?? `${window.location.origin}/v1` };
}
