import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { abilitiesOf } from '@lodge/contract/words';
import type { OfferedModel, Provider } from '@lodge/sdk';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { modelFacts, modelLine } from '../../../components/words/model-words.ts';
import { providersQuery } from '../../create/queries.ts';
import type { CardProps } from './about-cards.tsx';
import { model } from './kinds.ts';
import type { Model } from './kinds.ts';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';
import type { Setting } from './use-setting.ts';

interface Named {
  /** As the agent's `model` names it. */
  readonly name: string;
  readonly offered: OfferedModel;
}

export function ModelCard({ record }: CardProps) {
  const { agent } = record;
  const setting = useSetting(record, model);
  const { values, set, problems } = setting;
  const providers = useQuery(providersQuery);
  const listId = useId();
  const isBare = abilitiesOf(agent.runtime_kind).hasBareModels;
  const named = namedModels(providers.data ?? [], isBare);
  const chosen = named.find(({ name }) => name === values.model)?.offered;
  return (
    <SettingCard
      title="Model"
      description="Who computes the answers. The next model call goes to it."
      setting={setting}
      effect="live"
      labels={{ model: 'The model', others: 'Other models', models: 'The list of other models' }}
    >
      <TextField
        label="Model"
        maxLength={200}
        list={listId}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        value={values.model}
        onChange={(event) => set({ model: event.target.value })}
        hint={chosen === undefined ? hintOf(isBare) : modelFacts(chosen)}
        error={problems.model}
      />
      <datalist id={listId}>
        {named.map(({ name, offered }) => (
          <option key={name} value={name}>
            {modelLine(offered)}
          </option>
        ))}
      </datalist>
      <ChoiceField
        legend="Other models that it may call"
        name="others"
        value={values.others}
        onChoose={(others) => set({ others })}
        choices={[
          {
            value: 'any',
            label: 'Any of its providers',
            meaning: 'Those that it has a key for. Under a spend limit, those with a known price.',
          },
          { value: 'some', label: 'Only these', meaning: 'A call to another model is refused.' },
        ]}
      />
      {values.others === 'some' && <OtherModels setting={setting} />}
    </SettingCard>
  );
}

function OtherModels({ setting: { values, set, problems } }: { readonly setting: Setting<Model> }) {
  return (
    <TextAreaField
      label="Models"
      code
      maxLength={20_000}
      placeholder="anthropic/claude-haiku-5"
      value={values.models}
      onChange={(event) => set({ models: event.target.value })}
      hint="One on each line, as provider/model. None: only its own model."
      error={problems.models}
    />
  );
}

const hintOf = (isBare: boolean): string =>
  isBare
    ? 'The provider’s name of it, without the provider. Empty: the model of this Lodge.'
    : 'Provider, slash, and the provider’s name of it, such as anthropic/claude-sonnet-5. Empty: the model of this Lodge.';

const namedModels = (providers: readonly Provider[], isBare: boolean): readonly Named[] =>
  providers.flatMap(({ id, models }) =>
    models.map((offered) => ({ name: isBare ? offered.id : `${id}/${offered.id}`, offered })),
  );
