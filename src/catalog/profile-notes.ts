// For the operator: which profile each model got and why, and models that lose tools over chat.

import { responsesProfile } from '../core/generations.ts';
import type { Catalog } from '../core/model.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import { isChosen } from './profile-choice.ts';

/** The placements whose profile the catalog does not name for their whole upstream. */
export function chosenProfiles({ models }: Catalog) {
  return models.flatMap(({ slug, servedBy }) =>
    servedBy
      .filter(({ profileChoice }) => isChosen(profileChoice))
      .map(({ upstream, model, profileChoice: { name, reason } }) => {
        return {
          model: slug,
          upstream,
          upstream_model: model,
          profile: name,
          reason: wordsOf(reason),
        };
      }),
  );
}

/** Models with tools that chat serves without thinking, or not at all, where Responses serves them. */
export function profileWarnings({ models, upstreams }: Catalog): Sentence[] {
  return models.flatMap(({ slug, features, servedBy }) =>
    servedBy.flatMap(({ upstream: id, model, profile }) => {
      const upstream = upstreams.get(id);
      if (upstream === undefined || upstream.dialect === 'demo') return [];
      if (profile.dialect !== 'chat' || !features.has('tools')) return [];
      if (responsesProfile(upstream.profileName, model.toLowerCase()) === undefined) return [];
      const lines = { chat: 'dialect = "chat"', responses: 'dialect = "responses"' };
      const values = { slug, model, upstream: id, ...lines };
      return profile.thinkingOff === 'send'
        ? say(
            '{slug}: {model} at {upstream} does not think beside tools over chat; leave out {chat} of the upstream, or write {responses}',
            values,
          )
        : say(
            '{slug}: {model} at {upstream} refuses every tool over chat; leave out {chat} of the upstream, or write {responses}',
            values,
          );
    }),
  );
}
