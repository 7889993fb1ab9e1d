import { severities, skillBounds, skillHubs, skillNamePattern, skillRules } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { exactlyOneOf, withRules } from '../rules.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns, wholeList } from '../text.ts';

const name = Type.String({ maxLength: skillBounds.nameChars, pattern: skillNamePattern, examples: ['release-notes'] });

export const SkillFinding = Type.Object(
  {
    severity: oneOf(severities),
    rule: oneOf(skillRules, { description: 'Further rules may come.' }),
    file: Type.String({ examples: ['scripts/install.sh'] }),
    line: nullable(Type.Integer({ description: 'Null: it is about the file as a whole.' })),
    message: Type.String({ description: 'For a person; not stable.' }),
  },
  { title: 'SkillFinding', additionalProperties: false },
);

const SkillSource = Type.Object(
  {
    kind: oneOf(['upload', 'git', 'hub']),
    url: Type.Optional(Type.String({ description: 'The address of the repository.' })),
    ref: Type.Optional(Type.String({ description: 'The branch, tag or commit that was asked for.' })),
    path: Type.Optional(
      Type.String({ description: "The skill's folder in the repository; empty: the repository itself." }),
    ),
    commit: Type.Optional(Type.String({ description: 'The commit that was fetched.' })),
    name: Type.Optional(oneOf(skillHubs)),
    slug: Type.Optional(Type.String({ description: 'Its name at the hub.' })),
    version: Type.Optional(Type.String({ description: 'Its version at the hub, or the digest that the hub gives.' })),
  },
  { title: 'SkillSource', additionalProperties: false },
);

const SkillRequires = Type.Object(
  { programs: Type.Array(Type.String(), { examples: [['gh']] }), variables: Type.Array(Type.String()) },
  {
    title: 'SkillRequires',
    additionalProperties: false,
    description: 'Programs and variables that the skill says it needs, in the words of OpenClaw and Hermes.',
  },
);

const facts = {
  version: Type.Integer({ minimum: 1, description: 'Counts from 1. A version never changes.' }),
  description: Type.String({ description: 'From its SKILL.md.' }),
  digest: Type.String({ description: 'SHA-256 over the paths, modes and contents of its files, in hex.' }),
  source: SkillSource,
  requires: SkillRequires,
  findings: Type.Array(SkillFinding, {
    description: `The findings of the review, the worst first, at most ${skillBounds.findings}.`,
  }),
  bytes: Type.Integer({ description: 'The size of all its files.' }),
};

/** A skill as its latest version is. */
export const Skill = Type.Object(
  {
    object: Type.Literal('skill'),
    id: Type.String(),
    name,
    ...facts,
    files: Type.Integer({ description: 'How many files it has.' }),
    agents: Type.Integer({ description: 'How many agents use it, in whatever version.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Skill', additionalProperties: false },
);
export type Skill = Static<typeof Skill>;

export const SkillList = wholeList(Skill, 'SkillList');

export const SkillVersion = Type.Object(
  {
    object: Type.Literal('skill_version'),
    id: Type.String(),
    skill_id: Type.String(),
    ...facts,
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ examples: ['SKILL.md'] }),
          bytes: Type.Integer(),
          sha256: Type.String({ description: 'In hex.' }),
          executable: Type.Boolean(),
        },
        { additionalProperties: false },
      ),
    ),
    created_at: Timestamp,
  },
  { title: 'SkillVersion', additionalProperties: false },
);
export type SkillVersion = Static<typeof SkillVersion>;

export const SkillVersionList = listOf(SkillVersion, 'SkillVersionList');

const git = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: patterns.webUrl,
      description:
        'The address of the repository, by https. Private addresses are refused unless the operator allows them.',
      examples: ['https://github.com/anthropics/skills'],
    }),
    ref: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: patterns.token,
        description: "A branch, a tag or a whole commit; by default the repository's own branch.",
        examples: ['main'],
      }),
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: patterns.text,
        description: "The skill's folder; by default the repository itself.",
        examples: ['skills/release-notes'],
      }),
    ),
  },
  { additionalProperties: false },
);

const hub = Type.Object(
  {
    name: oneOf(skillHubs),
    slug: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: patterns.hubSlug,
      description: 'ClawHub: `slug` or `owner/slug`. skills.sh: `owner/repository/skill`.',
      examples: ['gifgrep'],
    }),
    version: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: patterns.token,
        description: 'By default the latest. skills.sh has the latest alone.',
        examples: ['1.2.3'],
      }),
    ),
  },
  { additionalProperties: false },
);

const accept_findings = Type.Optional(
  Type.Boolean({ description: 'Takes the skill in spite of findings of severity `high`. Look at them first.' }),
);

/** A skill that Lodge fetches. One that is sent is the body itself. */
export const AddSkill = withRules(
  Type.Object(
    { git: Type.Optional(git), hub: Type.Optional(hub), accept_findings },
    {
      title: 'AddSkill',
      additionalProperties: false,
      examples: [{ git: { url: 'https://github.com/anthropics/skills', ref: 'main', path: 'skills/release-notes' } }],
    },
  ),
  exactlyOneOf('git', 'hub'),
);

export const AddSkillQuery = Type.Object(
  {
    accept_findings: Type.Optional(
      oneOf(['true', 'false'], {
        description: 'With an archive as the body; with JSON it is a field. Takes the skill in spite of its findings.',
      }),
    ),
  },
  { additionalProperties: false },
);

const skill = Type.String({ description: "The skill's id or name.", examples: ['release-notes'] });
export const SkillParams = Type.Object({ skill });
export const SkillFileParams = Type.Object({
  skill,
  path: Type.String({
    description: 'Path in the skill, with its slashes as they are or encoded.',
    examples: ['SKILL.md'],
  }),
});

const version = Type.Integer({ minimum: 1, maximum: 1_000_000 });
export const SkillFileQuery = Type.Object(
  { version: Type.Optional({ ...version, description: 'By default the latest.' }) },
  { additionalProperties: false },
);

export const ListSkillVersionsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'Versions per page.' })),
    cursor: pageCursor(),
  },
  { additionalProperties: false },
);

export const SkillDeleted = Type.Object(
  { object: Type.Literal('skill.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'SkillDeleted', additionalProperties: false },
);
