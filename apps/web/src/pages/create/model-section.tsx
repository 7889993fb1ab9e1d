import type { UseQueryResult } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import type { Provider } from '@lodge/sdk';
import { LostSecret, PasswordField, SelectField, TextField } from '../../components/form/field.tsx';
import { FormCard } from '../../components/shown/cards.tsx';
import { modelFacts, modelLine } from '../../components/words/model-words.ts';
import { Loaded, Skeleton } from '../../components/states.tsx';
import { firstModel, ofThisLodge } from './draft.ts';
import type { SectionProps } from './draft.ts';

interface ModelSectionProps extends SectionProps {
  readonly providers: UseQueryResult<readonly Provider[]>;
  readonly apiKey: string;
  readonly setKey: (key: string) => void;
  /** The rest of the form is back from before, and the key is not. */
  readonly isBack: boolean;
}

/** The source of the answers: provider, model and key. */
export function ModelSection(props: ModelSectionProps) {
  return (
    <FormCard
      title="Model"
      description="Who computes the answers. The key stays on the host: the agent’s machine never sees it."
    >
      <Loaded query={props.providers} skeleton={<Skeleton className="h-16" />}>
        {(providers) => <Fields {...props} list={providers} />}
      </Loaded>
    </FormCard>
  );
}

function Fields({
  draft,
  set,
  problems,
  list,
  apiKey,
  setKey,
  isBack,
}: ModelSectionProps & { readonly list: readonly Provider[] }) {
  const provider = list.find(({ id }) => id === draft.provider);
  const own = list.filter(({ built_in: isBuiltIn }) => !isBuiltIn);
  const others = list.filter(({ built_in: isBuiltIn }) => isBuiltIn);
  const options = (some: readonly Provider[]) =>
    some.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ));
  return (
    <>
      <SelectField
        label="Provider"
        value={provider === undefined ? ofThisLodge : draft.provider}
        onChange={({ target: { value } }) => {
          const next = list.find(({ id }) => id === value);
          set({ provider: value, model: next === undefined ? '' : firstModel(next) });
          setKey('');
        }}
        hint={
          provider === undefined
            ? 'The operator of this Lodge has chosen a model, which may need a key of yours. You can take another later.'
            : undefined
        }
      >
        {own.length > 0 && <optgroup label="Of this Lodge">{options(own)}</optgroup>}
        <optgroup label="Providers">{options(others)}</optgroup>
        <option value={ofThisLodge}>The model of this Lodge</option>
      </SelectField>
      {provider !== undefined && (
        <>
          <ModelField key={provider.id} provider={provider} draft={draft} set={set} problems={problems} />
          {(provider.needs_key || apiKey !== '') && (
            <PasswordField
              label={`API key of ${provider.name}`}
              autoComplete="off"
              maxLength={2048}
              value={apiKey}
              onChange={(event) => setKey(event.target.value)}
              hint={isBack ? <LostSecret>{keyHint(provider)}</LostSecret> : keyHint(provider)}
              error={problems.key}
            />
          )}
          <ProviderDocs provider={provider} />
        </>
      )}
    </>
  );
}

const keyHint = ({ name, key_check: isChecked }: Provider): string =>
  isChecked
    ? `${name} is asked whether it accepts the key when you create the agent. The key is kept encrypted and never shown again.`
    : `Only its first use shows whether ${name} accepts the key. It is kept encrypted and never shown again.`;

function ModelField({ provider, draft, set, problems }: SectionProps & { readonly provider: Provider }) {
  const described = provider.models.find(({ id }) => id === draft.model);
  const isOther = provider.models.length === 0 || described === undefined;
  return (
    <>
      {provider.models.length > 0 && (
        <SelectField
          label="Model"
          value={isOther ? '' : draft.model}
          onChange={(event) => set({ model: event.target.value })}
          hint={described === undefined ? undefined : modelFacts(described)}
        >
          {provider.models.map((model) => (
            <option key={model.id} value={model.id}>
              {modelLine(model)}
            </option>
          ))}
          <option value="">Another model</option>
        </SelectField>
      )}
      {isOther && (
        <TextField
          label={provider.models.length > 0 ? 'Name of the model' : 'Model'}
          maxLength={190}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          placeholder="As the provider names it"
          value={draft.model}
          onChange={(event) => set({ model: event.target.value })}
          hint={`The name that ${provider.name} has for it, without the provider.`}
          error={problems.model}
        />
      )}
    </>
  );
}

function ProviderDocs({ provider }: { readonly provider: Provider }) {
  if (provider.docs_url === null || !/^https?:\/\//.test(provider.docs_url)) return null;
  return (
    <p className="text-[0.8125rem] text-muted">
      <a
        href={provider.docs_url}
        target="_blank"
        rel="noopener noreferrer"
        className="inline-flex items-center gap-1 text-accent underline underline-offset-2"
      >
        Models and keys of {provider.name}
        <ExternalLink aria-hidden className="size-3.5" />
        <span className="sr-only">(opens another site)</span>
      </a>
    </p>
  );
}
