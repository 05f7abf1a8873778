//! Frequent function words of languages, in lower case, for detecting the language of a text.
//!
//! There are about forty for each language, of up to sixteen bytes: articles, pronouns,
//! prepositions, conjunctions and forms of *be*, *have* and auxiliary verbs. Nouns, other verbs and
//! numbers are not included, because ranking treats these words as insignificant. For related
//! languages (Danish and Norwegian, Czech and Slovak, Portuguese and Galician), the lists have the
//! words that differ.

/// The code of a language (ISO 639-1) and its words.
pub(super) const WORDS: [(&str, &str); 31] = [
    (
        "en",
        "the of and to in is that it for was on are as with this be by at have from or an not \
            which you but can if will has they were their been would there when what your all its \
            we do no so my he his she her i me more about than any these them some out up just only",
    ),
    (
        "de",
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es \
            an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so \
            zum war haben nur oder aber vor zur bis mehr durch man kann wenn wir ich können diese \
            dieser sein ihre was keine",
    ),
    (
        "fr",
        "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il \
            sont avec son aux qu ou elle nous vous mais on été cette être ont leur ses si \
            même comme tout je peut sans ces entre où lors votre dont donc",
    ),
    (
        "es",
        "de la que el en y a los se del las un por con una su para es al lo como más o pero sus le \
            ha me si sin sobre este ya entre cuando todo esta ser son también fue había era muy \
            hasta desde está mi porque qué sólo han yo hay puede no donde cada usted nos sino",
    ),
    (
        "it",
        "di e il la che in un a per è una del non sono i con da si le al della dei più nel alla \
            come ha lo gli ma delle anche o se su questo dal ed nella essere ci cui stato questa tra \
            degli dalla suo ad hanno era può quando sul sulla ai alle viene quale ogni dell un",
    ),
    (
        "pt",
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao \
            ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso \
            ela entre era depois sem mesmo aos são você ter num pode este esta pelos nas às",
    ),
    (
        "nl",
        "de van het een en in is dat op te zijn met die voor niet aan er om ook als dan maar bij \
            door naar uit nog of over wordt worden kan heeft hebben deze ze zich wel geen wat hij we \
            ik je u tot onder meer moet was werd kunt dit hun tegen na alle waar",
    ),
    (
        "sv",
        "och i att det som en på är av för med till den har de inte om ett han men var jag sig \
            från vi så kan när man under också efter eller nu sin där vid mot ska skulle ut \
            får finns vara hade alla andra mycket än här då sedan över bara in blir upp även denna \
            detta oss dem",
    ),
    (
        "da",
        "og i at det er en til af på for med der de den ikke som har et var men han fra jeg kan vi \
            vil om så ved skal eller sig blev efter hvor bliver mere også nu været være hun kun når \
            mange over hvis denne dette du man havde meget efter hvad alle noget også blive mellem",
    ),
    (
        "no",
        "og i er det på som en for av at med til har de ikke den et fra om var å ble kan men han \
            seg så jeg vi skal vil etter ved også hun eller være nå mot blir over da der mer \
            hadde bare opp dette denne hva noe noen mellom dersom når du oss hvor",
    ),
    (
        "fi",
        "ja on ei että se oli hän joka mutta ovat kuin myös sen voi jos mukaan olla kun niin vain \
            ole mitä jo sitä jossa ollut tai tämä sekä siitä nyt ennen kanssa joita joiden tämän \
            niiden eivät kaikki minä hänen jälkeen ne sille missä sitten voit tätä tässä mikä olen",
    ),
    (
        "et",
        "ja on ei et see oli ta kui mis ka aga või ning selle seda kes siis oma nii välja juba \
            kõik pole veel üle sest saab olid need ole mida kuid mille kas siin tema te meie pärast \
            nagu selles enne nende millega abil",
    ),
    (
        "hu",
        "a az és hogy nem is egy ez meg volt csak de ha el mint van már még kell ezt lehet azt \
            vagy itt be ki más azonban majd így lesz ne ezek minden akkor után amely között pedig \
            ezen szerint sem mert valamint ami alatt ehhez annak le fel volna lenne",
    ),
    (
        "ro",
        "de în a și la cu pe din care un o nu să se mai al pentru este sau prin au că sunt ce fi \
            ca după fost dar lui le ale acest această unei cel fără între poate dacă ei s ar i am te \
            era unui foarte când până toate vă",
    ),
    (
        "pl",
        "i w na z do się nie że to jest o jak po co za od przez dla ale tak czy jego był lub przy \
            jej jako są ma tym oraz może już tylko było być tego te ten ta także które który która ze \
            można jeśli pod nad również gdy będzie aby bez",
    ),
    (
        "cs",
        "a v se na je že s z do o ve to k i za by pro jsou od po které ale jak který při nebo tak \
            jako si ze už bude která ještě u až podle co není jejich před jen být lze mezi této tento \
            tato toto kde když aby pokud může bylo byl pouze můžete má",
    ),
    (
        "sk",
        "a v sa na je že s z do o vo to k i za by pre sú od po ktoré ale ako ktorý pri alebo tak \
            si zo už bude ktorá ešte až podľa čo nie ich pred len byť medzi tento táto toto kde keď \
            aby ak môže bolo bol môžete má jeho tiež iba ktorých",
    ),
    (
        "sl",
        "in je v na se da za so z ki ni s pa bi od po tudi kot do ali lahko ne o ob ter če pri iz \
            še bo kako samo med jih več tem kar bil ima vse če tako to sta biti prek katere \
            ta tega katerih ko pod sem",
    ),
    (
        "hr",
        "i u je na da se za su od s a o koji kao ne iz do će bi što sa ili koja nije to po već \
            kako koje bio tako samo ali može biti te nakon prema mogu kada jer više bez ako pri svoje \
            ovaj ova ovo između ima",
    ),
    (
        "tr",
        "ve bir bu da de için ile olarak çok daha en gibi olan sonra kadar ne var değil ise o \
            olduğu ancak veya her iki göre ya içinde ama olduğunu mi bunu \
            arasında ki eğer şu tüm hem ben sadece tarafından üzerinde diğer kendi bazı",
    ),
    (
        "ca",
        "de la i el que a en els per les un amb una és del al no es ha més com va se o són \
            ser pel però aquest aquesta molt també entre si tot fins quan sobre seu seva on ho \
            després sense podeu pot han ja aquests hi cada això",
    ),
    (
        "gl",
        "de a o e que en do da un os unha non para se no na con por as como máis ao dos é das ou \
            pola polo seu súa está foi tamén ser entre pode cando moi este esta nos nas son á ata \
            onde sen ten sobre todo estes unhas isto despois",
    ),
    (
        "eu",
        "eta da ez bat du dira zen ere baina egin izan ditu den dute edo hau horrek dela duen oso \
            beste batean baino gure honek egiten behar zuen guztiak bere hori dituzte ziren \
            honetan arte duzu dago ondoren zer bezala zure",
    ),
    (
        "lt",
        "ir yra kad iš į su tai bei kaip o už ne buvo po arba jis nuo per bet tik dėl apie prie \
            kuri taip kuris jo gali galima jei ar dar turi būti jų šis ši šio iki kai jau labai savo \
            kurie jos daugiau visi",
    ),
    (
        "lv",
        "un ir ar no uz ka par kas lai tas to vai bet kā arī tika gan pie pēc ne tiek nav bija var \
            tikai ja viņš tā jau šo šī ko līdz tad pirms vairāk būt šis kuri savu pret kad mēs jūs",
    ),
    (
        "vi",
        "và của là các có được trong cho một không với này những để khi đã từ đến về nhiều \
            như ra tại vào sau trên hay hoặc thì nếu bạn cũng nó phải sẽ do sự đó theo mà rất",
    ),
    (
        "id",
        "yang dan di untuk dengan dari pada ini dalam adalah ke tidak akan oleh sebagai itu atau \
            dapat juga telah anda bisa tersebut ada jika seperti karena lebih menjadi saya kami \
            mereka kita sudah secara bahwa setelah saat",
    ),
    (
        "ru",
        "и в не на а что с он как это по но из у за от то же так для его только бы или все был к вы \
            если при я о когда мы уже может они является быть этого до она чтобы их со ли ещё также \
            можно были том этот где который нет вас более во",
    ),
    (
        "uk",
        "і в на що не а з у та до це як від за для його але по він або є й про так був які яка який \
            якщо при бути якого цього також може можна під ви вони її де через було з'я щоб коли ще \
            після між цей ця тільки із",
    ),
    (
        "bg",
        "на и да за а в от се с е са че по не това като или към при който които той до му ще ако \
            има една един много бъде може си след те така само със този тази през но както обаче \
            ги чрез всички когато още може",
    ),
    (
        "sr",
        "и у је на да се за су од са а о који као не из до ће би што или која није то по већ како \
            које био тако само али може бити те након према могу када јер више без ако при ово овај \
            између има",
    ),
];
