import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  browserMeaning,
  CreateAgent,
  LlmKeyInput,
  maxLlmKeys,
  modelNames,
  ownTexts,
  peerIds,
} from './agent-requests.ts';
import { EgressInput } from './egress.ts';
import { ConfirmationRulesInput } from './confirmation-rules.ts';
import { PackagesInput } from './packages.ts';
import { SnapshotPlanInput } from './snapshots.ts';
import { VariablesInput } from './variables.ts';
import { kindsWith, sizeNames } from '@lodge/domain';
import { Lifecycle } from './agent.ts';
import { SpendLimitInput } from '../account/spend.ts';
import { LabelsChange, MetadataChange, nullable, oneOf, patterns } from '../text.ts';

const { name, model, description } = CreateAgent.properties;

const LlmKeyChange = Type.Object(
  {
    provider: LlmKeyInput.properties.provider,
    api_key: nullable({
      ...LlmKeyInput.properties.api_key,
      description: "The provider's secret, which replaces the one there is; null removes it.",
    }),
  },
  { additionalProperties: false },
);

const { idle_timeout_seconds, stop_after_seconds, keep_awake, auto_resume, auto_start, wake_on_message } =
  Lifecycle.properties;

const LifecycleChange = Type.Partial(
  Type.Object({
    idle_timeout_seconds: nullable(idle_timeout_seconds),
    stop_after_seconds: nullable(stop_after_seconds),
    keep_awake: nullable(keep_awake),
    auto_resume: nullable(auto_resume),
    auto_start: nullable(auto_start),
    wake_on_message: nullable(wake_on_message),
  }),
  {
    additionalProperties: false,
    description: 'Fields that are left out stay as they are; null resets a field, or all of them.',
  },
);

/** The body of a PATCH. Absent fields stay, and null resets a field to its default. */
export const UpdateAgent = Type.Object(
  {
    name: Type.Optional(name),
    model: Type.Optional(
      nullable({
        ...model,
        description: `\`<provider>/<model_name>\` for ${kindsWith.prefixedModels}, bare \`<model_name>\` for ${kindsWith.bareModels}; null: the deployment chooses.`,
      }),
    ),
    description: Type.Optional(description),
    llm_keys: Type.Optional(
      nullable(
        Type.Array(LlmKeyChange, {
          maxItems: maxLlmKeys,
          description: 'Keys to set or, with null, to remove; those of other providers stay. Null removes all.',
        }),
      ),
    ),
    size: Type.Optional(
      nullable(
        oneOf(sizeNames, {
          description: 'Taken by the running machine where it can be; else with the next start. Null: `medium`.',
        }),
      ),
    ),
    machine_size: Type.Optional(nullable(oneOf(sizeNames, { description: 'Another name for `size`.' }))),
    lifecycle: Type.Optional(nullable(LifecycleChange)),
    labels: Type.Optional(LabelsChange),
    metadata: Type.Optional(MetadataChange),
    spend_limit: Type.Optional(
      nullable({
        ...SpendLimitInput,
        description: 'Replaces the whole limit; null: the limit of the deployment, if it has one.',
      }),
    ),
    env: Type.Optional(nullable({ ...VariablesInput, description: 'Replaces all variables; null: none.' })),
    packages: Type.Optional(
      nullable({
        ...PackagesInput,
        description: 'Replaces all three lists; what is no longer in one is removed. Null: none.',
      }),
    ),
    confirmations: Type.Optional(
      nullable({
        ...ConfirmationRulesInput,
        description: 'Replaces the rules as a whole, in effect with the next call; null: every call is allowed.',
      }),
    ),
    egress: Type.Optional(
      nullable({
        ...EgressInput,
        description: 'Replaces the rules as a whole; null: every public address.',
      }),
    ),
    models: Type.Optional(nullable(modelNames(' Replaces the list.'))),
    peers: Type.Optional(nullable(peerIds(' Replaces the list; null: none.'))),
    snapshots: Type.Optional(
      nullable({
        ...SnapshotPlanInput,
        description:
          'Replaces the plan as a whole: what is left out has its default. Null: no snapshots are made by themselves.',
      }),
    ),
    ...ownTexts,
    browser: Type.Optional(nullable(Type.Boolean({ description: browserMeaning }))),
    dashboard: Type.Optional(nullable(Type.Boolean({ description: `For ${kindsWith.dashboard} alone.` }))),
  },
  {
    title: 'UpdateAgent',
    additionalProperties: false,
    examples: [{ model: 'openai/gpt-5', llm_keys: [{ provider: 'openai', api_key: '<PROVIDER_API_KEY>' }] }],
  },
);
export type UpdateAgent = Static<typeof UpdateAgent>;

export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: patterns.text,
      description:
        'ETag of the record the change is meant for: if it has changed since, nothing is done and 412 says so.',
    }),
  ),
});
