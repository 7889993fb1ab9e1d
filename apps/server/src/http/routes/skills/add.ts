/**
 * `POST /v1/skills`: an archive as it is, or where a skill is to be fetched. A body of 9 MiB is read once the account has a
 * place, so those that wait cost nothing.
 */
import { AddSkill, AddSkillQuery, Skill } from '@lodge/contract';
import { FairGate, Places, Refusal, maxSkillArchiveBytes } from '@lodge/domain';
import type { SkillOrigin } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import { onReplyOver, replySignal } from '../../pipeline/client-gone.ts';
import { maxBodyBytes } from '../../pipeline/json-body.ts';
import { skillRecord } from './record.ts';
import { tags } from './skills.ts';
import type { SkillNeeds } from './skills.ts';

interface Needs extends SkillNeeds {
  /** Aborts when the server has waited long enough for running requests. */
  readonly cut: AbortSignal;
}

const archives = {
  'application/zip': 'zip',
  'application/gzip': 'tar.gz',
  'application/x-gzip': 'tar.gz',
  'application/x-tar+gzip': 'tar.gz',
} as const;
const archive = { schema: Type.Unsafe({ description: 'The archive: the folder of the skill, or what is in it.' }) };

const schema = {
  operationId: 'addSkill',
  tags,
  summary: 'Add a skill, or a version of it',
  description:
    'A folder with a SKILL.md as agentskills.io has it: as a zip or a tar.gz in the body, or fetched from a git repository or a hub. A skill of a name that is there gets its next version. Lodge reviews each version by rules; a finding of severity `high` refuses it with 422 `skill_refused` and the findings, unless `accept_findings` is sent. An account has at most 100 skills of 100 versions each, and 256 MiB. A skill has at most 256 files and 8 MiB.',
  querystring: AddSkillQuery,
  body: {
    content: {
      'application/json': { schema: AddSkill },
      'application/zip': archive,
      'application/gzip': archive,
    },
  },
  response: { 201: { ...Skill, 'x-response-description': 'The skill as its new version is.' } },
} as const;
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  errors: ['skill_refused', 'skill_source_failed', 'quota_exceeded'],
} as const;

/** Bodies that are in memory at once, and requests that wait for their turn. */
const places = { inAll: 8, perName: 2, few: 1 };
const waiters = { perName: 64, inAll: 64 };

export function addSkillRoute(app: App, needs: Needs): void {
  const gate = new FairGate(places);
  const waiting = new Places(waiters);
  app.register(async (scope: App) => {
    for (const type of Object.keys(archives)) {
      scope.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: maxSkillArchiveBytes }, (_, body, done) =>
        done(null, body),
      );
    }
    scope.route({
      method: 'POST',
      url: '/v1/skills',
      schema,
      config,
      preParsing: async (request, reply, payload) => {
        const signal = replySignal(reply, needs.cut);
        const { accountId } = request.principal;
        const room = waiting.roomOf(accountId, crowded);
        onReplyOver(reply, await gate.enter(accountId, { room, signal }));
        return payload;
      },
      errorHandler: (error, request) => {
        throw (error as { readonly code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? tooLarge(request) : error;
      },
      handler: (request, reply) => add(needs, request as FastifyRequest, reply),
    });
  });
}

const crowded = (): Refusal =>
  new Refusal('insufficient_capacity', 'Too many skills are being added. Try again shortly.');

const tooLarge = ({ headers }: FastifyRequest): Refusal =>
  new Refusal(
    'request_too_large',
    `The body may have at most ${(archiveOf(headers['content-type']) ? maxSkillArchiveBytes : maxBodyBytes) / 2 ** 20} MiB.`,
  );

const archiveOf = (type = '') => archives[type.split(';', 1)[0]!.trim().toLowerCase() as keyof typeof archives];

async function add({ skills, cut }: Needs, request: FastifyRequest, reply: FastifyReply) {
  const { accept_findings: accept } = request.query as Static<typeof AddSkillQuery>;
  const body = request.body as Static<typeof AddSkill> | Buffer | undefined;
  if (body === undefined) throw new Refusal('invalid_request', 'The body must be an archive, or name git or hub.');
  const input = {
    origin: Buffer.isBuffer(body) ? archived(request, body) : fetched(body),
    acceptFindings: accept === 'true' || (!Buffer.isBuffer(body) && body.accept_findings === true),
  };
  const { accountId } = request.principal;
  const row = await skills.add(accountId, input, actorNote(request), replySignal(reply, cut));
  return reply.code(201).header('location', `/v1/skills/${row.id}`).send(skillRecord(row));
}

function archived({ headers }: FastifyRequest, bytes: Buffer): SkillOrigin {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the archive without a Content-Encoding.');
  }
  return { kind: archiveOf(headers['content-type']), bytes };
}

function fetched({ git, hub }: Static<typeof AddSkill>): SkillOrigin {
  return git
    ? { kind: 'git', url: git.url, ref: git.ref ?? null, path: git.path ?? '' }
    : { kind: 'hub', name: hub!.name, slug: hub!.slug, version: hub!.version ?? null };
}
