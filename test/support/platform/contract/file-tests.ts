// A test for each line of contract 3 about files and agents, and about what it does not show.
import { expect } from 'vitest';
import { ApiError } from '../../../../src/http/request.ts';
import { BETAS } from '../../../../src/platform/betas.ts';
import { fileFragment } from '../../../../src/platform/fragments.ts';
import { BETA, check, clientOf, formOf, isRefused, isSuccess, send, storeFile } from './target.ts';
import type { PlatformTarget } from './target.ts';
import { expectNoCanary } from '../../values/canaries.ts';

const TEXT = { name: 'i-1.txt', mediaType: 'text/plain', content: new TextEncoder().encode('An incident.\n') };

export const FILE_TESTS = {
  async file_stored_once(on: PlatformTarget) {
    const id = await storeFile(on);
    expect(await check(on, [fileFragment(id, 'text/plain')])).toSatisfy(isSuccess);
    expect(await check(on, [fileFragment(id, 'text/plain')])).toSatisfy(isSuccess);
    expect(await check(on, [fileFragment('file_of_nobody', 'text/plain')])).toSatisfy(isRefused);
  },
  async file_id(on: PlatformTarget) {
    expect(await storeFile(on)).toMatch(/^file_./);
  },
  async document_block(on: PlatformTarget) {
    for (const mediaType of ['text/plain', 'application/pdf']) {
      const fragment = fileFragment(await storeFile(on, mediaType), mediaType);
      expect(fragment?.blocks).toMatchObject([{ type: 'document', source: { type: 'file' } }]);
      expect(await check(on, [fragment])).toSatisfy(isSuccess);
    }
  },
  async image_block(on: PlatformTarget) {
    const fragment = fileFragment(await storeFile(on, 'image/png'), 'image/png');
    expect(fragment?.blocks).toMatchObject([{ type: 'image', source: { type: 'file' } }]);
    expect(await check(on, [fragment])).toSatisfy(isSuccess);
  },
  async block_matches(on: PlatformTarget) {
    const text = await storeFile(on, 'text/plain');
    expect(await check(on, [fileFragment(text, 'image/png')])).toSatisfy(isRefused);
    const image = await storeFile(on, 'image/png');
    expect(await check(on, [fileFragment(image, 'application/pdf')])).toSatisfy(isRefused);
    expect(fileFragment(image, 'application/zip')).toBeUndefined();
  },
  async post_file(on: PlatformTarget) {
    const [first, second] = [await storeFile(on), await storeFile(on)];
    expect(first).not.toBe(second);
  },
  async files_beta_upload(on: PlatformTarget) {
    const form = () => formOf(on.fileField, { 'i-1.txt': 'An incident.' });
    expect(await send(on, 'POST', '/v1/files', [], form())).toSatisfy(isRefused);
    expect(await send(on, 'POST', '/v1/files', [BETA.skills], form())).toSatisfy(isRefused);
    expect(await send(on, 'POST', '/v1/files', [BETA.files], form())).toSatisfy(isSuccess);
  },
  async files_beta_reference(on: PlatformTarget) {
    const fragment = fileFragment(await storeFile(on), 'text/plain');
    expect(await check(on, [fragment], { without: BETA.files })).toSatisfy(isRefused);
    expect(await check(on, [fragment])).toSatisfy(isSuccess);
  },
  async file_form(on: PlatformTarget) {
    const other = { ...on, fileField: `${on.fileField}-other` };
    await expect(clientOf(other).uploadFile(TEXT)).rejects.toThrow(ApiError);
    expect(await clientOf(on).uploadFile(TEXT)).toMatch(/^file_./);
  },
  async post_agent(on: PlatformTarget) {
    const body = JSON.stringify({ name: 'on-call' });
    expect(await send(on, 'POST', '/v1/agents', [], body)).toSatisfy(isRefused);
    expect(await send(on, 'POST', '/v1/agents', [BETA.agents], body)).toSatisfy(isSuccess);
    await clientOf(on).createAgent('{"name":"on-call"}');
  },
  async authentication(on: PlatformTarget) {
    // The header is configuration. Another one is no key.
    const other = { ...on, authHeader: 'x-other-header' };
    await expect(clientOf(other).skills()).rejects.toMatchObject({ failure: 'denied' });
    expect((await clientOf(on).skills()).entries.length).toBeGreaterThan(0);
  },
  async error_bodies(on: PlatformTarget) {
    const error: unknown = await clientOf(on)
      .skill('skill_of_nobody')
      .catch((reason: unknown) => reason);
    if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
    expect(error.failure).toMatch(/^(?:denied|rejected)$/);
    expect(error.message).toContain(`status ${error.status}`);
    expect(error.message).not.toContain('hidden-in-a-body');
    expectNoCanary('the error', error.message);
    expect(error.message.length).toBeLessThan(700);
  },
  async beta_values(on: PlatformTarget) {
    expect(Object.values(BETAS).toSorted()).toEqual(Object.values(BETA).toSorted());
    for (const beta of Object.values(BETAS)) expect(beta).toMatch(/20\d{2}-?\d{2}-?\d{2}/);
    // An unknown date is another value.
    const form = formOf(on.fileField, { 'i-1.txt': 'An incident.' });
    expect(await send(on, 'POST', '/v1/files', [], form)).toSatisfy(isRefused);
  },
};
