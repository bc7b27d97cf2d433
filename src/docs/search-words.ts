// How the words of a query and those of the pages meet: by their stems, and by what the field calls the
// same thing.

/** Words of the field for which the pages have another one. */
const SYNONYMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/(function|tool)[\s-]?call(ing|s)?/, ['tool']],
  [/structured outputs?/, ['json', 'schema']],
  [/(rate[\s-]?limit(s|ing)?|throttl(e|ed|ing)|quotas?)/, ['limit']],
  [/(invoices?|billing)/, ['bill']],
  [
    /(top[\s-]?up|add (balance|credits?|funds)|buy credits?|redeem|vouchers?)/,
    ['top-up', 'redemption'],
  ],
  [
    /(gdpr|(delete|erase|close) (my|the|an)? ?(data|account)|data (retention|protection))/,
    ['privacy', 'deletion'],
  ],
  [/(reasoning|chain of thought)/, ['thinking']],
  [/(vision|pictures?|photos?|multimodal)/, ['image']],
  [/(sse|server[\s-]sent events?)/, ['stream']],
  [/(pagination|cursors?)/, ['agent', 'after_id', 'page']],
  [
    /(token ?counter|count(ing)? tokens|token counts?|tokeni[sz]ers?)/,
    ['count_tokens', 'tokenizer'],
  ],
  [/(exponential )?back[\s-]?off/, ['back-off', 'retry']],
  [/(codex|copilot|(claude code|agent|ide) (setup|set-up|settings|config(uration)?))/, ['agent']],
  [/(stream(ing|ed)?|sse) (responses?|answers?|completions?|output)/, ['streaming']],
  [/((duplicate|double) charges?|charged twice)/, ['outcome', 'idempotency']],
  [/(discounts?|cheaper|save money)/, ['price', 'cost', 'pay']],
  [/(authenticat(e|ion)|bearer( token)?)/, ['authorization', 'key']],
  [/((python|javascript|typescript|node(js)?)( (client|sdk|example|code))?)/, ['quickstart']],
  [/(spend(ing)? (limit|cap)s?)/, ['budget']],
  [
    /((connection|stream) (lost|drops?|breaks?|cut)|(lost|broken) connection|disconnect(s|ed)?|mid[\s-]?stream)/,
    ['outcome', 'broken', 'stopping'],
  ],
  [/(ip )?(allow|white)[\s-]?lists?/, ['network']],
  [/vercel( ai)?( sdk)?/, ['ai-sdk', 'ai']],
  [/(train(s|ed|ing)?( on)?( my| our)?( data| prompts?)?|zero data retention|zdr)/, ['privacy']],
  [/(leak(s|ed)?|stolen|compromised)/, ['revoke', 'leak']],
  // Of operators.
  [/(kubernetes|k8s|helm|docker|podman)/, ['container']],
  [
    /((reverse )?proxy( nginx)?|nginx|caddy|traefik|(tls|ssl) certificates?|custom domain)/,
    ['trusted_proxies'],
  ],
  [/(slack|pagerduty|discord)/, ['webhook']],
  [/(smtp|mail) (settings|server|setup)/, ['smtp_url']],
  [/(disable|close|allow|turn off) (sign[\s-]?ups?|registration)/, ['signup']],
  [/(stripe|paypal|payments?|checkouts?)( payments?)?/, ['top-up', 'top_up_url', 'checkout']],
  [/(add|new) (a |an )?(model|upstream|provider)/, ['catalog']],
  [/(downloads?|csv)/, ['csv', 'export']],
  [/(check|see|show|query) (my |the )?(balance|usage|credits?)/, ['account']],
];

/** Words of a question that say nothing of its topic. */
const ASKING = new Set(
  (
    'a am an and any are available be can could do does example examples for from get getting guide how i if in is it ' +
    'me much my need of on or please set setup should tell the there this to use using via want was we what when ' +
    'where which why with you your'
  ).split(' '),
);

/** A word of a query; or a phrase, with what the pages call it. All are stems. */
export type QueryTerm = { readonly stems: readonly string[]; readonly synonyms: readonly string[] };

/** The first words and phrases of a query, as stems. */
export function termsOf(query: string, most: number): readonly QueryTerm[] {
  let rest = query.toLowerCase();
  const phrases: QueryTerm[] = [];
  for (const [phrase, words] of SYNONYMS) {
    // Not within a name, such as x-ratelimit-reset-requests.
    const whole = new RegExp(`(?<![\\w-])(?:${phrase.source})(?![\\w-])`, 'g');
    rest = rest.replace(whole, (found) => {
      const own = wordsOf(found).filter((word) => word.length > 3);
      phrases.push({ stems: own.map(stemOf), synonyms: words.map(stemOf) });
      return ' ';
    });
  }
  const asked = wordsOf(rest);
  const telling = asked.filter((word) => !ASKING.has(word));
  const isTelling = phrases.length > 0 || telling.length > 0;
  const words = (isTelling ? telling : asked).map((word) => ({
    stems: [stemOf(word)],
    synonyms: [],
  }));
  const distinct = new Map([...phrases, ...words].map((term) => [term.stems.join(' '), term]));
  return [...distinct.values()].slice(0, most);
}

/** The words of a text in lower case. Names of fields and codes are one word. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

export const WORD = /[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*/gu;

/** What a word is found by: its stem, and for a name also those of its parts. */
export function stemsOf(word: string): readonly string[] {
  const parts = word.split(/[_-]/);
  return parts.length === 1 ? [stemOf(word)] : [stemOf(word), ...parts.map(stemOf)];
}

/** Without the usual endings of English: cache, caches and caching have one stem. */
export function stemOf(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const bare = word.replace(/(ies|y)$/, 'i').replace(/(?<=[a-z]{3})(ings?|ed|es|e|s)$/, '');
  return bare.replace(/([bdgmnprt])\1$/, '$1');
}
