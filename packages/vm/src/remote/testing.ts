/** Calls of the machine host's protocol, for tests: whole ones, and many that it must refuse. */
import { sizes } from '@lodge/domain';
import type { Image } from '@lodge/ports';

export const image: Image = { id: 'image', rootDisk: '/root.qcow2', kernel: '/kernel', initrd: '/initrd' };
export const [agentId, executionId] = ['abcdefghijk1', 'e1'];
export const machine = { ...sizes.small };
export const create = { agentId, executionId, machine, templateId: 't1', from: 'clone', egress: null };
export const save = { agentId, executionId, id: 's1', memory: true, facts: {} };
export const data = { folders: ['/workspace'], except: [] };

export const refused: readonly (readonly [method: unknown, args: unknown, why: RegExp])[] = [
  ['destroy', {}, /no such method/],
  ['constructor', {}, /no such method/],
  ['__proto__', {}, /no such method/],
  [null, {}, /no such method/],
  ['pause', null, /pause must be an object/],
  ['pause', [], /pause must be an object/],
  ['pause', { agentId }, /pause\.executionId must be/],
  ['pause', { agentId, executionId, force: true }, /pause has another field/],
  ['pause', { agentId: '../../../../etc', executionId }, /pause\.agentId must be/],
  ['pause', { agentId: 'abcdefghijk1/../x', executionId }, /pause\.agentId must be/],
  ['pause', { agentId: `${agentId}\n`, executionId }, /pause\.agentId must be/],
  ['pause', { agentId: { toString: 'abcdefghijk1' }, executionId }, /pause\.agentId must be/],
  ['pause', { agentId, executionId: 'e/1' }, /pause\.executionId must be/],
  ['pause', { agentId, executionId: 'e'.repeat(65) }, /pause\.executionId must be/],
  ['remove', { agentId, keepDisk: 'no' }, /remove\.keepDisk must be true or false/],
  ['getTemplate', { id: '../../images' }, /getTemplate\.id must be/],
  ['getTemplate', { id: '.' }, /getTemplate\.id must be/],
  ['getTemplate', { id: '' }, /getTemplate\.id must be/],
  ['findImage', { runtime: '../base' }, /findImage\.runtime must be/],
  ['findImage', { runtime: 'Base' }, /findImage\.runtime must be/],
  ['ensureImage', { runtime: 'base@../../etc' }, /ensureImage\.runtime must be/],
  ['ensureImage', { runtime: 'base@1@2' }, /ensureImage\.runtime must be/],
  ['offeredVersions', { runtime: 'base@1', variant: 'v' }, /offeredVersions\.runtime must be/],
  ['buildTemplate', { imageId: 'image', variant: 'v', brokerPort: 4000 }, /no image of that id/],
  ['findTemplate', { imageId: '/etc/shadow', variant: 'v' }, /findTemplate\.imageId must be/],
  ['findTemplate', { image, variant: 'v' }, /findTemplate has another field/],
  ['buildTemplate', { imageId: 'image', variant: 'a b', brokerPort: 4000 }, /buildTemplate\.variant must be/],
  ['buildTemplate', { imageId: 'image', variant: 'v', brokerPort: 65_536 }, /buildTemplate\.brokerPort must be/],
  ['buildTemplate', { imageId: 'image', variant: 'v', brokerPort: 4000, fromId: '../t' }, /\.fromId must be/],
  ['collectTemplates', { keep: Array.from({ length: 4097 }, () => 't') }, /collectTemplates\.keep must be a list/],
  ['collectTemplates', { keep: ['t', '../t'] }, /collectTemplates\.keep\[1\] must be/],
  ['create', { ...create, templateId: '../t' }, /create\.templateId must be/],
  ['create', { ...create, template: { id: 't1', rootDisk: '/etc/shadow' } }, /create has another field/],
  ['create', { ...create, from: 'file' }, /create\.from must be one of/],
  ['create', { ...create, from: { saved: '../t', memory: true } }, /create\.from\.saved must be/],
  ['create', { ...create, from: { saved: 's1' } }, /create\.from\.memory must be/],
  ['create', { ...create, machine: { ...machine, vcpus: 0.5 } }, /create\.machine\.vcpus must be/],
  ['create', { ...create, machine: { ...machine, memoryMib: 1e300 } }, /create\.machine\.memoryMib must be/],
  ['create', { ...create, machine: { ...machine, kernel: '/k' } }, /create\.machine has another field/],
  ['create', { ...create, egress: { mode: 'all', allow: [] } }, /create\.egress\.mode must be one of/],
  ['create', { ...create, egress: { mode: 'allowlist', allow: ['10.0.0.0/8'] } }, /create\.egress has an entry/],
  [
    'setEgress',
    { agentId, rules: { mode: 'allowlist', allow: ['a; flush ruleset'] } },
    /setEgress\.rules has an entry/,
  ],
  ['setEgress', { agentId, rules: { mode: 'allowlist', allow: ['a'.repeat(257)] } }, /allow\[0\] must be text/],
  ['setEgress', { agentId, rules: { mode: 'public', allow: ['a.example'] } }, /setEgress\.rules has an entry/],
  ['rest', { agentId, executionId, facts: 'none', data: null }, /rest\.facts must be an object/],
  ['save', { ...save, id: 's1/../../etc' }, /save\.id must be/],
  ['save', { ...save, listed: '/a/../../etc' }, /save\.listed must be an absolute/],
  ['dropSaved', { id: '..' }, /dropSaved\.id must be/],
  ['copySaved', { from: 's1', to: 'S2' }, /copySaved\.to must be/],
  ['collectSaved', { keep: ['s1', '../s2'], savedBefore: 1 }, /collectSaved\.keep\[1\] must be/],
  ['collectSaved', { keep: [], savedBefore: 'now' }, /collectSaved\.savedBefore must be/],
  ['carryOver', { agentId, executionId, data: { ...data, folders: ['workspace'] } }, /rs\[0\] must be an absolute/],
  [
    'carryOver',
    { agentId, executionId, data: { ...data, folders: ['/a/../../etc'] } },
    /folders\[0\] must be an absolute/,
  ],
  ['carryOver', { agentId, executionId, data: { ...data, folders: ['/a\0b'] } }, /folders\[0\] must be an absolute/],
  ['carryOver', { agentId, executionId, data: { ...data, except: ['//a'] } }, /except\[0\] must be an absolute/],
  ['rest', { agentId, executionId, facts: {}, data: { folders: '/' } }, /folders must be a list/],
  ['guestCredential', { agentId, address: '10.0.0.1/../x' }, /guestCredential\.address must be/],
  ['diskUse', { of: 'everything' }, /diskUse\.of must be one of/],
];
