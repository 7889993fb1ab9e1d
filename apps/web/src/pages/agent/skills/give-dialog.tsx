import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { abilitiesOf } from '@lodge/contract/words';
import type { AgentSkill, PutAgentSkill, Skill } from '@lodge/sdk';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { CheckField } from '../../../components/form/check-field.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { SelectField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { Failure } from '../../../components/notice.tsx';
import { Loaded } from '../../../components/states.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { formatNumber } from '../../../format.ts';
import { skillsQuery } from '../../skills/queries.ts';
import { membersQuery } from '../members/queries.ts';
import { useAgent } from '../queries.ts';
import { agentSkillsQuery, skillChanges, skillVersionsQuery } from './queries.ts';

interface Props {
  /** Undefined: another one of the library is given. */
  readonly skill?: AgentSkill;
  readonly taken: readonly AgentSkill[];
  readonly onClose: () => void;
}

/** Gives the agent a skill of the library, or gives it otherwise. */
export function GiveDialog({ skill, taken, onClose }: Props) {
  const library = useQuery(skillsQuery);
  return (
    <Dialog title={skill === undefined ? 'Give a skill' : `Change ${skill.name}`} onClose={onClose}>
      <Loaded query={library}>
        {(all) => {
          const free = all.filter(({ name }) =>
            skill === undefined ? !taken.some((one) => one.name === name) : name === skill.name,
          );
          return free.length === 0 ? (
            <NothingLeft onClose={onClose} />
          ) : (
            <GiveForm skills={free} skill={skill} onClose={onClose} />
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function NothingLeft({ onClose }: { readonly onClose: () => void }) {
  return (
    <>
      <p className="text-muted">
        The agent has all skills of{' '}
        <Link to="/account/skills" className="text-accent underline underline-offset-2">
          your library
        </Link>
        . Add another one there first.
      </p>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </>
  );
}

interface FormProps {
  readonly skills: readonly Skill[];
  readonly skill: AgentSkill | undefined;
  readonly onClose: () => void;
}

function GiveForm({ skills, skill, onClose }: FormProps) {
  const agent = useAgent();
  const [name, choose] = useState(skills[0]!.name);
  const form = useGiveForm(agent.id, skill, onClose);
  const { hasMembers } = abilitiesOf(agent.runtime_kind);
  return (
    <Form form={form} className="flex flex-col gap-5">
      {skill === undefined && (
        <SelectField
          label="Skill"
          name="skill"
          data-autofocus
          value={name}
          onChange={({ target }) => choose(target.value)}
        >
          {skills.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </SelectField>
      )}
      <VersionField key={name} name={name} given={skill?.version ?? 'latest'} />
      {hasMembers && <MembersField skill={skill} error={form.problems.who} />}
      <Failure error={form.failure} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" type="submit" pending={form.pending}>
          {skill === undefined ? 'Give skill' : 'Save changes'}
        </Button>
      </DialogActions>
    </Form>
  );
}

function VersionField({ name, given }: { readonly name: string; readonly given: AgentSkill['version'] }) {
  const { data: versions = [] } = useQuery(skillVersionsQuery(name));
  const numbers = new Set(versions.map(({ version }) => version));
  // One that is older than those that were read is still a choice.
  if (given !== 'latest') numbers.add(given);
  return (
    <SelectField
      key={numbers.size}
      label="Version"
      name="version"
      defaultValue={String(given)}
      hint="A version never changes. Whoever adds one to the library gives it to agents that have each new one."
    >
      <option value="latest">Each new one</option>
      {[...numbers].map((version) => (
        <option key={version} value={version}>
          {formatNumber(version)}
        </option>
      ))}
    </SelectField>
  );
}

function MembersField({
  skill,
  error,
}: {
  readonly skill: AgentSkill | undefined;
  readonly error: string | undefined;
}) {
  const { id } = useAgent();
  const { data: members = [] } = useQuery(membersQuery(id));
  const given = skill?.members ?? null;
  const [who, choose] = useState<'all' | 'some'>(given === null ? 'all' : 'some');
  return (
    <>
      <ChoiceField
        legend="Who has it"
        name="who"
        value={who}
        onChoose={choose}
        error={error}
        choices={[
          { value: 'all', label: 'The agent and all its members', meaning: 'Those to come too.' },
          { value: 'some', label: 'Some of them' },
        ]}
      />
      {who === 'some' && (
        <>
          <CheckField label="The agent itself" name="itself" defaultChecked={given?.includes(null) ?? true} />
          {members.map(({ name }) => (
            <CheckField
              key={name}
              label={name}
              name="member"
              value={name}
              defaultChecked={given?.includes(name) ?? false}
            />
          ))}
        </>
      )}
    </>
  );
}

function useGiveForm(agentId: string, skill: AgentSkill | undefined, onClose: () => void) {
  const client = useQueryClient();
  return useForm<'skill' | 'version' | 'who', AgentSkill>({
    check: (data) => (membersIn(data)?.length === 0 ? { who: 'Choose who has it.' } : {}),
    send: (data) => skillChanges(agentId).put(skill?.name ?? text(data, 'skill'), bodyOf(data, skill)),
    done: async ({ name, state }) => {
      onClose();
      const when = state === 'pending' ? ' The machine takes it when it runs.' : '';
      toast(`${name} is ${skill === undefined ? 'given to the agent' : 'changed'}.${when}`);
      await client.invalidateQueries(agentSkillsQuery(agentId));
    },
  });
}

function bodyOf(data: FormData, skill: AgentSkill | undefined): PutAgentSkill {
  const version = text(data, 'version');
  return {
    version: version === 'latest' ? version : Number(version),
    members: membersIn(data),
    enabled: skill?.enabled ?? true,
  };
}

/** Null: all. */
function membersIn(data: FormData): (string | null)[] | null {
  if (text(data, 'who') !== 'some') return null;
  return [...(data.has('itself') ? [null] : []), ...data.getAll('member').map(String)];
}
