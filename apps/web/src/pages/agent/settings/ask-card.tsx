import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../../session.ts';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { SelectField, TextField } from '../../../components/form/field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { connectionsQuery } from '../connections/queries.ts';
import type { CardProps } from './about-cards.tsx';
import { ask, askGroups } from './ask.ts';
import type { Ask, Policy } from './ask.ts';
import { RulesField, policies } from './rules-field.tsx';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';
import type { Setting } from './use-setting.ts';

/** The calls for which the agent needs somebody's yes. */
export function AskCard({ record }: CardProps) {
  const setting = useSetting(record, ask);
  const { values, set } = setting;
  return (
    <SettingCard
      title="Confirmations"
      description="Calls for which it needs a yes. Lodge enforces the rules outside of its machine; those for command stop a careless model, and no program."
      setting={setting}
      effect="live"
      labels={{
        who: 'Asking',
        rules: 'Rules',
        rest: 'Everything else',
        deliver: 'Conversations',
        deciders: 'Deciders',
        expires: 'Time',
      }}
    >
      <ChoiceField
        legend="It asks"
        name="confirmations"
        value={values.who}
        onChoose={(who) => set({ who })}
        choices={[
          { value: 'nothing', label: 'About nothing' },
          { value: 'rules', label: 'By rules' },
        ]}
      />
      {values.who === 'rules' && <Rules agentId={record.agent.id} setting={setting} />}
    </SettingCard>
  );
}

function Rules({ agentId, setting }: { readonly agentId: string; readonly setting: Setting<Ask> }) {
  const { values, set, problems } = setting;
  const readOnly = !useMay('agents:write');
  const connections = useQuery(connectionsQuery(agentId));
  const subjects = [...(connections.data ?? []).map(({ name }) => `connection:${name}`), ...askGroups];
  return (
    <>
      <RulesField
        rules={values.rules}
        change={(rules) => set({ rules })}
        subjects={subjects}
        readOnly={readOnly}
        error={problems.rules}
      />
      <SelectField
        label="Every other call"
        value={values.rest}
        onChange={(event) => set({ rest: event.target.value as Policy })}
        hint="Not for commands, and not for tools that only read."
      >
        {policies.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      <People setting={setting} />
      <TextField
        label="Open for"
        maxLength={8}
        autoComplete="off"
        value={values.expires}
        onChange={(event) => set({ expires: event.target.value })}
        hint="Such as 30m, 24h or 7d. Then the call is not made."
        error={problems.expires}
      />
    </>
  );
}

function People({ setting: { values, set, problems } }: { readonly setting: Setting<Ask> }) {
  const readOnly = !useMay('agents:write');
  return (
    <>
      <TextAreaField
        code
        rows={2}
        readOnly={readOnly}
        label="Ask in these conversations"
        placeholder="telegram 8127361"
        autoCapitalize="none"
        maxLength={4_000}
        value={values.deliver}
        onChange={(event) => set({ deliver: event.target.value })}
        hint="One on each line: a channel, and a conversation that wrote to the agent. The page Confirmations has all of them in any case."
        error={problems.deliver}
      />
      <TextAreaField
        code
        rows={2}
        readOnly={readOnly}
        label="People who may decide there"
        placeholder="telegram:8127361"
        autoCapitalize="none"
        maxLength={5_000}
        value={values.deciders}
        onChange={(event) => set({ deciders: event.target.value })}
        hint="One sender’s id on each line, alone or behind the channel’s name and a colon. Nobody else can."
      />
    </>
  );
}
