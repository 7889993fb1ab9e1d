import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Agent, CreateAgent, Provider } from '@lodge/sdk';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { PasswordField, SelectField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { firstModels } from '../../components/words/model-words.ts';
import { Failure } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { pathTo } from '../../paths.ts';
import { useMay } from '../../session.ts';
import { agentQuery } from '../agent/queries.ts';
import { providersQuery } from '../create/queries.ts';
import { TemplateNotice } from './template-notice.tsx';

const tryOut = 'tryout';

/** The way to the first agent: three fields. */
export function FirstAgent() {
  const providers = useQuery(providersQuery);
  const mayCreate = useMay('agents:write');
  if (!mayCreate) {
    return (
      <EmptyState Icon={Bot} title="No agents yet">
        Your role sees agents, and does not make them. Whoever invited you can.
      </EmptyState>
    );
  }
  return (
    <Section
      title="Your first agent"
      description="An agent is a program with a model, a machine of its own and a memory that stays. It works while you watch, and sleeps when nobody needs it."
    >
      <div className="grid gap-x-10 lg:grid-cols-[minmax(0,36rem)_minmax(0,1fr)]">
        <Loaded query={providers}>{(data) => <ThreeFields providers={data} />}</Loaded>
        <NextSteps />
      </div>
    </Section>
  );
}

const steps = [
  ['A machine of its own', 'A virtual machine starts in about a second. Keys of yours never go into it.'],
  ['A first chat', 'Ask it to write a file or run a command, and watch its log and its files while it does.'],
  ['Where people are', 'Give it Telegram, Slack, Discord, WhatsApp or e-mail. A message wakes it when it sleeps.'],
] as const;

function NextSteps() {
  return (
    <ol
      aria-label="What comes then"
      className="flex flex-col gap-4 border-line p-5 text-muted max-lg:border-t sm:p-6 lg:border-l"
    >
      {steps.map(([title, words], index) => (
        <li key={title} className="flex gap-3">
          <span
            aria-hidden
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
          >
            {index + 1}
          </span>
          <div>
            <p className="font-medium text-ink">{title}</p>
            <p>{words}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}

function ThreeFields({ providers }: { providers: readonly Provider[] }) {
  const [chosen, setChosen] = useState(providers.some(({ id }) => id === tryOut) ? tryOut : 'anthropic');
  const provider = providers.find(({ id }) => id === chosen);
  const form = useFirstForm(provider);
  return (
    <Form form={form} className="flex flex-col gap-5 p-5 sm:p-6">
      <TemplateNotice />
      <Failure error={form.failure} />
      <TextField label="Name" name="name" defaultValue="Ada" maxLength={100} error={form.problems.name} />
      <SelectField
        label="Model provider"
        name="provider"
        value={chosen}
        onChange={(event) => setChosen(event.target.value)}
        hint={hintOf(provider)}
      >
        {providers.map(({ id, name }) => (
          <option key={id} value={id}>
            {id === tryOut ? `${name}: no key, no cost` : name}
          </option>
        ))}
      </SelectField>
      {chosen !== tryOut && provider?.models.length === 0 && (
        <TextField
          key={chosen}
          label="Model"
          name="model"
          defaultValue={firstModels[chosen] ?? ''}
          spellCheck={false}
          hint="The provider’s own name of it."
          error={form.problems.model}
        />
      )}
      {provider?.needs_key === true && (
        <PasswordField
          label="API key"
          name="key"
          autoComplete="off"
          hint="It is kept encrypted on this Lodge, and never goes into the agent’s machine."
          error={form.problems.key}
        />
      )}
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" variant="primary" pending={form.pending}>
          Create and chat
        </Button>
        <Link to={pathTo('/agents/new')} className="font-medium text-accent underline underline-offset-2">
          Choose everything yourself
        </Link>
      </div>
    </Form>
  );
}

function hintOf(provider: Provider | undefined): ReactNode {
  if (provider?.id === tryOut) {
    return 'It stands in for a model: it repeats what you say and runs commands in the machine. Give the agent a real model later, in its settings.';
  }
  if (provider?.docs_url == null) return undefined;
  return (
    <a href={provider.docs_url} target="_blank" rel="noopener noreferrer" className="underline underline-offset-2">
      Where {provider.name} explains its models and keys
    </a>
  );
}

type Field = 'name' | 'model' | 'key';

function useFirstForm(provider: Provider | undefined) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useForm<Field, Agent>({
    keep: 'first-agent',
    check: (data) => ({
      ...(text(data, 'name').trim() === '' && { name: 'Give it a name.' }),
      ...(data.has('model') && text(data, 'model').trim() === '' && { model: 'Name a model.' }),
      ...(provider?.needs_key === true && text(data, 'key').trim() === '' && { key: 'Enter a key of the provider.' }),
    }),
    send: (data) => change(() => lodge.agents.create(bodyOf(data, provider), { wait: false })),
    done: async (agent) => {
      queryClient.setQueryData(agentQuery(agent.id).queryKey, agent);
      void queryClient.invalidateQueries({ queryKey: ['agents'] });
      await navigate({ to: pathTo('/agents/$agentId/chat', agent.id) });
    },
  });
}

function bodyOf(data: FormData, provider: Provider | undefined): CreateAgent {
  const { id = tryOut, models: [described] = [] } = provider ?? {};
  const key = text(data, 'key').trim();
  const model = data.has('model') ? text(data, 'model').trim() : described?.id;
  return {
    name: text(data, 'name'),
    ...(model !== undefined && { model: `${id}/${model}` }),
    ...(key !== '' && { llm_keys: [{ provider: id, api_key: key }], check_keys: true }),
  };
}
