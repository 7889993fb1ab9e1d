import {
  ListSkillVersionsQuery,
  Skill,
  SkillDeleted,
  SkillFileParams,
  SkillFileQuery,
  SkillList,
  SkillParams,
  SkillVersionList,
} from '@lodge/contract';
import type { Skills } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { ifNoneMatchHolds } from '../files/parts/conditions.ts';
import { contentTypeOf, dispositionOf } from '../files/parts/content-type.ts';
import { filePath } from '../files/parts/file.ts';
import { skillRecord, versionRecord } from './record.ts';

export interface SkillNeeds {
  readonly skills: Skills;
}

interface Needs extends SkillNeeds {
  readonly cursors: Cursors;
}

export const tags = ['Skills'];
const readConfig = { scopes: ['agents:read'], errors: ['skill_not_found'] } as const;

/** `/v1/skills` and what is below a skill, but for the POST. */
export function skillRoutes(app: App, needs: Needs): void {
  listRoute(app, needs);
  getRoute(app, needs);
  versionsRoute(app, needs);
  fileRoute(app, needs);
  deleteRoute(app, needs);
}

function listRoute(app: App, { skills }: SkillNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/skills',
    schema: {
      operationId: 'listSkills',
      tags,
      summary: 'List the skills of the account',
      response: { 200: { ...SkillList, 'x-response-description': 'All of them, by their names.' } },
    },
    config: { scopes: ['agents:read'], errors: [] },
    handler: async ({ principal }) => {
      const rows = await skills.list(principal.accountId);
      return { object: 'list' as const, data: rows.map(skillRecord), has_more: false as const, next_cursor: null };
    },
  });
}

function getRoute(app: App, { skills }: SkillNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/skills/:skill',
    schema: {
      operationId: 'getSkill',
      tags,
      summary: 'Read a skill',
      params: SkillParams,
      response: { 200: { ...Skill, 'x-response-description': 'The skill as its latest version is.' } },
    },
    config: readConfig,
    handler: async ({ principal, params }) => skillRecord(await skills.get(principal.accountId, params.skill)),
  });
}

function versionsRoute(app: App, { skills, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/skills/:skill/versions',
    schema: {
      operationId: 'listSkillVersions',
      tags,
      summary: 'List the versions of a skill',
      description: 'Newest first, each with its files.',
      params: SkillParams,
      querystring: ListSkillVersionsQuery,
      response: { 200: { ...SkillVersionList, 'x-response-description': 'A page of versions.' } },
    },
    config: readConfig,
    handler: async ({ principal: { accountId }, params: { skill }, query: { limit = 10, cursor } }) => {
      const kind = `skill-versions:${skill}`;
      const before = cursor === undefined ? undefined : Number(cursors.open(kind, accountId, cursor));
      const page = { limit: limit + 1, ...(before !== undefined && { before }) };
      return pageReply(await skills.versions(accountId, skill, page), {
        limit,
        record: versionRecord,
        cursorOf: (last) => cursors.seal(kind, accountId, String(last.version)),
      });
    },
  });
}

function fileRoute(app: App, { skills }: SkillNeeds): void {
  const bytes = { schema: Type.Unsafe({ type: 'string', format: 'binary' }) };
  app.route({
    method: 'GET',
    url: '/v1/skills/:skill/files/*',
    compress: false,
    schema: {
      operationId: 'getSkillFile',
      tags,
      summary: 'Read a file of a skill',
      description:
        'The bytes of a file of a version. A stranger may have written them: they are sent as a download, never to be shown by a browser. The ETag is the SHA-256 of the file.',
      params: SkillFileParams,
      querystring: SkillFileQuery,
      response: {
        200: { description: 'The bytes.', content: { 'application/octet-stream': bytes } },
        304: { description: 'If-None-Match names what is there.', type: 'null' },
      },
    },
    config: { rate: 'calls', scopes: ['agents:read'], errors: ['skill_not_found', 'file_not_found'] },
    handler: (request, reply) => readFile(skills, request as FastifyRequest, reply),
  });
}

async function readFile(skills: Skills, request: FastifyRequest, reply: FastifyReply) {
  const { skill } = request.params as Static<typeof SkillParams>;
  const { version } = request.query as Static<typeof SkillFileQuery>;
  const path = filePath(request);
  const { sha256, content } = await skills.file(request.principal.accountId, skill, path, version);
  reply.headers({ etag: `"${sha256}"`, 'cache-control': 'private, no-cache' });
  if (!ifNoneMatchHolds(request.headers['if-none-match'], sha256)) return reply.code(304).send();
  return reply
    .type(contentTypeOf(path))
    .headers({ 'content-disposition': dispositionOf(path), 'content-security-policy': "sandbox; default-src 'none'" })
    .send(content);
}

function deleteRoute(app: App, { skills }: SkillNeeds): void {
  app.route({
    method: 'DELETE',
    url: '/v1/skills/:skill',
    schema: {
      operationId: 'deleteSkill',
      tags,
      summary: 'Delete a skill',
      description: 'With all its versions. 409 `skill_in_use` while an agent uses it.',
      params: SkillParams,
      response: { 200: { ...SkillDeleted, 'x-response-description': 'It is gone.' } },
    },
    config: { scopes: ['agents:write'], errors: ['skill_not_found', 'skill_in_use'] },
    handler: async (request) => {
      const { accountId } = request.principal;
      const id = await skills.remove(accountId, request.params.skill, actorNote(request));
      return { object: 'skill.deleted' as const, id, deleted: true as const };
    },
  });
}
